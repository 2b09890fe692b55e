// The measuring client: says a line, waits for a mark in what comes back, looks at the rest as little as it can.
// talk [-s SOCKET | -c] -u MARK [-h HELLO -r MARK] [-n WATCHERS] [-k PEERS] [-e] [-l LINE]... [-- PROGRAM ARG...]
//   -s   a connection for each LINE, all of them busy at a time; -c: a program's standard input and output instead
//   -k   so many connections in place of one for each LINE: each says every PEERS-th line in turn
//   -h   what each connection says first, and -r the mark that it then waits for
//   -n   so many connections watch, the first of them speaks, and all must see the mark
//   -e   the mark is at the end of what comes, and only looked for there
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "side.h"

enum { peers_max = 256, lines_max = 8192, read_bytes = 262144, tail_bytes = 1024 };

struct peer {
  int in, out;
  int line;
  int64_t began;
  long marks_due;
  long at;
  size_t kept;
  char tail[tail_bytes];
};

extern char **environ;
static struct peer peers[peers_max];
static struct pollfd fds[peers_max];
static char *lines[lines_max];
static int peer_count, line_count, is_together, is_at_end;
static char *mark, *hello, *hello_mark;
static char buffer[tail_bytes + read_bytes];

static void say(struct peer *peer, const char *line) {
  size_t left = strlen(line);
  while (left > 0) {
    ssize_t size = write(peer->out, line, left);
    if (size < 0) die("write");
    line += size;
    left -= size;
  }
}

/** How many marks came with what can be read now. The end of what was read is kept: a mark may be cut in two. */
static long hear(struct peer *peer, const char *wanted, int at_end) {
  size_t wanted_length = strlen(wanted), keep;
  memcpy(buffer, peer->tail, peer->kept);
  ssize_t size = read(peer->in, buffer + peer->kept, read_bytes);
  if (size < 0 && (errno == EINTR || errno == EAGAIN)) return 0;
  if (size <= 0) {
    fprintf(stderr, "the other side is gone\n");
    exit(1);
  }
  size_t total = peer->kept + size;
  char *from = buffer, *end = buffer + total, *found;
  long marks = 0;
  if (at_end && total > tail_bytes - 1) from = end - (tail_bytes - 1);
  while ((found = memmem(from, end - from, wanted, wanted_length)) != NULL) {
    marks++;
    from = found + wanted_length;
  }
  keep = at_end ? tail_bytes - 1 : wanted_length - 1;
  if ((size_t)(end - from) < keep) keep = end - from;
  memcpy(peer->tail, end - keep, keep);
  peer->kept = keep;
  return marks;
}

static void connect_to(const char *path) {
  struct peer *peer = &peers[peer_count];
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  peer->in = peer->out = socket(AF_UNIX, SOCK_STREAM, 0);
  peer->line = is_together ? 0 : peer_count;
  peer_count++;
  if (connect(peer->in, (struct sockaddr *)&address, sizeof address) < 0) die(path);
}

static void start_program(char **command) {
  int in[2], out[2];
  pid_t pid;
  posix_spawn_file_actions_t actions;
  open_pipe(in);
  open_pipe(out);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  if (posix_spawnp(&pid, command[0], &actions, NULL, command, environ) != 0) die(command[0]);
  close(in[0]);
  close(out[1]);
  peers[peer_count++] = (struct peer){.in = out[0], .out = in[1], .line = 0};
}

static void greet(void) {
  for (int i = 0; i < peer_count; i++) {
    fds[i] = (struct pollfd){peers[i].in, POLLIN, 0};
    if (!hello) continue;
    say(&peers[i], hello);
    while (hear(&peers[i], hello_mark, 0) == 0) continue;
    peers[i].kept = 0;
  }
}

static void say_next(struct peer *peer, long at, long pause_us) {
  if (pause_us > 0) usleep(pause_us);
  peer->at = at;
  peer->marks_due = 1;
  peer->began = now_ns();
  say(peer, lines[peer->line]);
  if (is_together) return;
  peer->line += peer_count;
  if (peer->line >= line_count) peer->line = peer - peers;
}

/** Each peer has one line under way, until all have been said. */
static void run_apart(long count, long pause_us, int64_t *samples) {
  long said = 0, done = 0;
  for (int i = 0; i < peer_count && said < count; i++) say_next(&peers[i], said++, pause_us);
  while (done < count) {
    if (poll(fds, peer_count, -1) < 0) die("poll");
    for (int i = 0; i < peer_count; i++) {
      if (fds[i].revents == 0 || hear(&peers[i], mark, is_at_end) == 0 || peers[i].marks_due == 0) continue;
      samples[peers[i].at] = now_ns() - peers[i].began;
      peers[i].marks_due = 0;
      done++;
      if (said < count) say_next(&peers[i], said++, pause_us);
    }
  }
}

/** A flood: a connection that is not read fills its buffers, so every readable connection is read. */
static void hear_as_it_comes(void) {
  for (int waiting = peer_count; waiting > 0;) {
    if (poll(fds, peer_count, -1) < 0) die("poll");
    for (int i = 0; i < peer_count; i++) {
      if (fds[i].revents == 0 || hear(&peers[i], mark, is_at_end) == 0 || peers[i].marks_due == 0) continue;
      peers[i].marks_due = 0;
      waiting--;
    }
  }
}

/** An echo: one after the other. To poll so many takes longer than to read from them, which would add to the measured time. */
static void hear_in_turn(void) {
  for (int i = 0; i < peer_count; i++)
    while (hear(&peers[i], mark, is_at_end) == 0) continue;
}

/** The first one speaks, and it is done when the last one has heard. */
static void run_together(long count, long pause_us, int64_t *samples) {
  for (long at = 0; at < count; at++) {
    say_next(&peers[0], at, pause_us);
    for (int i = 0; i < peer_count; i++) peers[i].marks_due = 1;
    if (is_at_end) hear_as_it_comes();
    else hear_in_turn();
    samples[at] = now_ns() - peers[0].began;
  }
}

static int64_t run_block(long count, long pause_us, int64_t *samples) {
  int64_t began = now_ns();
  (is_together ? run_together : run_apart)(count, pause_us, samples);
  return now_ns() - began;
}

static char *line_of(const char *text) {
  char *line;
  if (asprintf(&line, "%s\n", text) < 0) die("asprintf");
  return line;
}

int main(int argc, char **argv) {
  char *socket_path = NULL;
  int watchers = 0, speakers = 0, is_program = 0, option;
  while ((option = getopt(argc, argv, "+s:cu:h:r:n:k:el:")) != -1) {
    if (option == 's') socket_path = optarg;
    else if (option == 'c') is_program = 1;
    else if (option == 'u') mark = optarg;
    else if (option == 'h') hello = line_of(optarg);
    else if (option == 'r') hello_mark = optarg;
    else if (option == 'n') watchers = atoi(optarg);
    else if (option == 'k') speakers = atoi(optarg);
    else if (option == 'e') is_at_end = 1;
    else if (option == 'l' && line_count < lines_max) lines[line_count++] = line_of(optarg);
    else return 64;
  }
  is_together = watchers > 0;
  int wanted = is_together ? watchers : speakers > 0 ? speakers : line_count;
  if (line_count == 0 || !mark || wanted > peers_max || (!is_together && wanted > line_count)) return 64;
  if (is_program) start_program(argv + optind);
  else for (int i = 0; i < wanted; i++) connect_to(socket_path);
  greet();
  answer_blocks(run_block);
}
