// Commands whose output is known beforehand, to the byte.
import type { Random } from "../support/random.ts";

/** What a stream must carry: any piece of it can be checked by its offset. */
export interface Expected {
  /** Infinity where it goes on until it is stopped. */
  length: number;
  matches(offset: number, bytes: Uint8Array): boolean;
}

export interface KnownCommand {
  command: string;
  stdin?: string;
  stdout: Expected;
  stderr: Expected;
  exitCode: number;
}

export const exactly = (content: Uint8Array): Expected => ({
  length: content.length,
  matches: (offset, bytes) => Buffer.compare(content.subarray(offset, offset + bytes.length), bytes) === 0,
});

const nothing = exactly(new Uint8Array(0));

/** Longer than any frame. */
const sampleBytes = 1024 * 1024;

function repeated(line: string): Expected {
  const period = Buffer.from(line);
  const sample = Buffer.alloc(sampleBytes, period);
  return {
    length: Number.POSITIVE_INFINITY,
    matches(offset, bytes) {
      const start = offset % period.length;
      return Buffer.compare(sample.subarray(start, start + bytes.length), bytes) === 0;
    },
  };
}

/** Prints until it is stopped. */
export const flood: KnownCommand = {
  command: "yes 'without end, ä'",
  stdout: repeated("without end, ä\n"),
  stderr: nothing,
  exitCode: 0,
};

/** Prints a little, and then is in no hurry. */
export const sleeper: KnownCommand = {
  command: "echo begun; sleep 600; echo over",
  stdout: exactly(Buffer.from("begun\n")),
  stderr: nothing,
  exitCode: 0,
};

const lists = new Map<string, Buffer>();

/** As `seq 1 LAST` prints it. */
export function seqText(last: number, lineEnd = "\n"): Buffer {
  const key = `${last}${lineEnd}`;
  const known = lists.get(key);
  if (known) return known;
  const text = Buffer.from(Array.from({ length: last }, (_, i) => `${i + 1}${lineEnd}`).join(""));
  lists.set(key, text);
  return text;
}

/** Up to some 2 MB, mostly little; all of it is kept, so that nobody who comes late meets a gap. */
export const drawLast = (random: Random): number =>
  random.weighted([
    [6, 10],
    [4, 500],
    [3, 20_000],
    [1, 300_000],
  ]);

export function drawCommand(random: Random): KnownCommand {
  const make = random.weighted([
    [4, lines],
    [2, bothStreams],
    [2, echoed],
    [1, killed],
    [1, background],
  ]);
  return make(random);
}

function lines(random: Random): KnownCommand {
  const last = drawLast(random);
  const exitCode = random.pick([0, 0, 0, 1, 7, 255]);
  return {
    command: `seq 1 ${last}; exit ${exitCode}`,
    stdout: exactly(seqText(last)),
    stderr: nothing,
    exitCode,
  };
}

function bothStreams(random: Random): KnownCommand {
  const [out, err] = [drawLast(random), random.pick([1, 300, 9000])];
  return {
    command: `seq 1 ${err} >&2 & seq 1 ${out}; wait`,
    stdout: exactly(seqText(out)),
    stderr: exactly(seqText(err)),
    exitCode: 0,
  };
}

function echoed(random: Random): KnownCommand {
  const stdin = random.pick(["", "a\n", "ä€😀\n", "\0\x1b[31m\n"]).repeat(random.pick([1, 100, 20_000]));
  return { command: "cat", stdin, stdout: exactly(Buffer.from(stdin)), stderr: nothing, exitCode: 0 };
}

function killed(random: Random): KnownCommand {
  const [name, code] = random.pick([
    ["KILL", 137],
    ["TERM", 143],
    ["SEGV", 139],
  ] as const);
  const text = exactly(Buffer.from("last words\n"));
  return { command: `echo last words; kill -${name} $$`, stdout: text, stderr: nothing, exitCode: code };
}

/** What it leaves behind must be gone with its session. */
function background(random: Random): KnownCommand {
  const how = random.pick([
    "sleep 700 &",
    "setsid sleep 701 &",
    "(setsid nohup sleep 702 >/dev/null 2>&1 &) &",
  ]);
  const text = exactly(Buffer.from("started\n"));
  return { command: `${how} echo started`, stdout: text, stderr: nothing, exitCode: 0 };
}
