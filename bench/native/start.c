// How long a daemon takes from its start to the first connection that it accepts.
// start SOCKET PROGRAM [ARG...]
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include "side.h"

extern char **environ;
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static char **command;
static const int patience_us = 200;

static int is_accepting(void) {
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  int result = connect(fd, (struct sockaddr *)&address, sizeof address);
  close(fd);
  return result == 0;
}

static int64_t run_block(long count, long pause_us, int64_t *samples) {
  posix_spawn_file_actions_t silence;
  posix_spawn_file_actions_init(&silence);
  for (int fd = 0; fd < 3; fd++) posix_spawn_file_actions_addopen(&silence, fd, "/dev/null", O_RDWR, 0);
  int64_t block = now_ns();
  for (long i = 0; i < count; i++) {
    pid_t pid;
    if (pause_us > 0) usleep(pause_us);
    int64_t began = now_ns();
    if (posix_spawnp(&pid, command[0], &silence, NULL, command, environ) != 0) die(command[0]);
    while (!is_accepting()) usleep(patience_us);
    samples[i] = now_ns() - began;
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
  }
  return now_ns() - block;
}

int main(int argc, char **argv) {
  if (argc < 3) return 64;
  strncpy(address.sun_path, argv[1], sizeof address.sun_path - 1);
  command = argv + 2;
  answer_blocks(run_block);
}
