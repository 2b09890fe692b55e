// What every side of a comparison does: it reads `COUNT PAUSE_US` from standard input, does the work so many times,
// and answers with one line of nanoseconds: those of the whole block, then those of each time.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static inline int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline void die(const char *what) {
  perror(what);
  exit(1);
}

/** A pipe that no program inherits by accident; without pipe2, which macOS does not have. */
static inline void open_pipe(int ends[2]) {
  if (pipe(ends) < 0) die("pipe");
  for (int i = 0; i < 2; i++) fcntl(ends[i], F_SETFD, FD_CLOEXEC);
}

/** Shared with the workers that a side may fork. */
static inline int64_t *new_samples(long count) {
  void *memory = mmap(NULL, (count + 1) * sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) die("mmap");
  return memory;
}

static inline void answer_blocks(int64_t (*run_block)(long count, long pause_us, int64_t *samples)) {
  long count, pause_us;
  puts("ready");
  fflush(stdout);
  while (scanf("%ld %ld", &count, &pause_us) == 2) {
    int64_t *samples = new_samples(count);
    printf("%lld", (long long)run_block(count, pause_us, samples));
    for (long i = 0; i < count; i++) printf(" %lld", (long long)samples[i]);
    puts("");
    fflush(stdout);
    munmap(samples, (count + 1) * sizeof(int64_t));
  }
}
