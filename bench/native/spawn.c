// The floor of exec: starts a program with pipes of its own, reads both to their end, waits for it.
// spawn WORKERS PROGRAM [ARG...] [+ PROGRAM [ARG...]]...
//   several programs are started in turn
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include "side.h"

extern char **environ;
enum { commands_max = 16 };
static int workers, command_count;
static char **commands[commands_max];
static char buffer[65536];

static void read_to_the_end(int out, int err) {
  struct pollfd fds[2] = {{out, POLLIN, 0}, {err, POLLIN, 0}};
  for (int open = 2; open > 0;) {
    if (poll(fds, 2, -1) < 0) die("poll");
    for (int i = 0; i < 2; i++) {
      if (fds[i].revents == 0) continue;
      if (read(fds[i].fd, buffer, sizeof buffer) > 0) continue;
      close(fds[i].fd);
      fds[i].fd = -1;
      open--;
    }
  }
}

static void spawn_once(char **command) {
  int out[2], err[2];
  pid_t pid;
  open_pipe(out);
  open_pipe(err);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  posix_spawn_file_actions_adddup2(&actions, err[1], 2);
  if (posix_spawnp(&pid, command[0], &actions, NULL, command, environ) != 0) die(command[0]);
  posix_spawn_file_actions_destroy(&actions);
  close(out[1]);
  close(err[1]);
  read_to_the_end(out[0], err[0]);
  if (waitpid(pid, NULL, 0) < 0) die("waitpid");
}

static void spawn_many(long count, long pause_us, int64_t *samples) {
  for (long i = 0; i < count; i++) {
    if (pause_us > 0) usleep(pause_us);
    int64_t began = now_ns();
    spawn_once(commands[i % command_count]);
    samples[i] = now_ns() - began;
  }
}

/** They begin together: each waits until the pipe that holds them back is closed. */
static int64_t run_workers(long count, long pause_us, int64_t *samples) {
  int gate[2];
  char byte;
  open_pipe(gate);
  for (int worker = 0; worker < workers; worker++) {
    long from = count * worker / workers, to = count * (worker + 1) / workers;
    if (fork() != 0) continue;
    close(gate[1]);
    if (read(gate[0], &byte, 1) < 0) die("read");
    spawn_many(to - from, pause_us, samples + from);
    _exit(0);
  }
  int64_t began = now_ns();
  close(gate[0]);
  close(gate[1]);
  for (int worker = 0; worker < workers; worker++) wait(NULL);
  return now_ns() - began;
}

static int64_t run_block(long count, long pause_us, int64_t *samples) {
  if (workers > 1) return run_workers(count, pause_us, samples);
  int64_t began = now_ns();
  spawn_many(count, pause_us, samples);
  return now_ns() - began;
}

int main(int argc, char **argv) {
  if (argc < 3) return 64;
  workers = atoi(argv[1]);
  commands[command_count++] = argv + 2;
  for (int i = 3; i < argc - 1; i++) {
    if (argv[i][0] != '+' || argv[i][1] != 0) continue;
    if (command_count == commands_max) return 64;
    argv[i] = NULL;
    commands[command_count++] = argv + i + 1;
  }
  answer_blocks(run_block);
}
