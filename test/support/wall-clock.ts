// A wall clock that a test sets for one daemon: a library that is loaded into it adds to the real time what it finds in
// a file. For tests that declare `needs("cc")`.
import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";

const source = `
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static const volatile long long none, *ahead = &none;
__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("TEST_CLOCK");
  int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void *map = mmap(0, sizeof *ahead, PROT_READ, MAP_SHARED, fd, 0);
  if (map != MAP_FAILED) ahead = map;
  close(fd);
}
int clock_gettime(clockid_t id, struct timespec *t) {
  int failed = syscall(SYS_clock_gettime, id, t);
  if (!failed && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) t->tv_sec += *ahead;
  return failed;
}
int gettimeofday(struct timeval *restrict t, void *restrict zone) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  t->tv_sec = now.tv_sec;
  t->tv_usec = now.tv_nsec / 1000;
  return 0;
}
time_t time(time_t *to) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (to) *to = now.tv_sec;
  return now.tv_sec;
}
`;

export interface WallClock {
  /** For the daemon. */
  env: Record<string, string>;
  /** So many seconds before or behind the real one. */
  set(aheadS: number): void;
}

export function wallClock(dir: string): WallClock {
  const [library, offset] = [join(dir, "clock.so"), join(dir, "clock")];
  writeFileSync(join(dir, "clock.c"), source);
  const words = ["cc", "-shared", "-fPIC", "-O1", "-o", library, join(dir, "clock.c")];
  const { exitCode, stderr } = Bun.spawnSync(words);
  if (exitCode !== 0) throw new Error(`cc: ${stderr}`);
  writeFileSync(offset, new BigInt64Array(1));
  return {
    env: { LD_PRELOAD: library, TEST_CLOCK: offset },
    set(aheadS) {
      const fd = openSync(offset, "r+");
      writeSync(fd, new BigInt64Array([BigInt(aheadS)]), 0, 8, 0);
      closeSync(fd);
    },
  };
}
