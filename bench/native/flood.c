// The floor of a terminal's throughput: starts a program on a terminal of its own, reads what it prints to the end, and
// does nothing with it.
// flood PROGRAM [ARG...]
#define _XOPEN_SOURCE 600
#define _DEFAULT_SOURCE
#define _DARWIN_C_SOURCE
#include <sys/ioctl.h>
#include <sys/wait.h>
#include "side.h"

static char **command;
static char buffer[262144];

static pid_t start_on(int master) {
  pid_t pid = fork();
  if (pid < 0) die("fork");
  if (pid > 0) return pid;
  setsid();
  int slave = open(ptsname(master), O_RDWR);
  if (slave < 0) die("the terminal");
  ioctl(slave, TIOCSCTTY, 0);
  for (int fd = 0; fd < 3; fd++) dup2(slave, fd);
  if (slave > 2) close(slave);
  close(master);
  execvp(command[0], command);
  die(command[0]);
  return 0;
}

static int64_t run_block(long count, long pause_us, int64_t *samples) {
  int64_t block = now_ns();
  for (long i = 0; i < count; i++) {
    if (pause_us > 0) usleep(pause_us);
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0) die("a terminal");
    int64_t began = now_ns();
    pid_t pid = start_on(master);
    while (read(master, buffer, sizeof buffer) > 0) continue; // on Linux the end is an error (EIO)
    samples[i] = now_ns() - began;
    waitpid(pid, NULL, 0);
    close(master);
  }
  return now_ns() - block;
}

int main(int argc, char **argv) {
  if (argc < 2) return 64;
  command = argv + 1;
  answer_blocks(run_block);
}
