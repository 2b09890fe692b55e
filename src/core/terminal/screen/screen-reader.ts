// The work of a screen process: emulators that read output, answer queries about their screens and search for patterns.
// It does one piece of work at a time; the daemon enforces the time limit.
import { Emulator } from "./emulator.ts";
import { type Found, Matcher, PatternError } from "./patterns.ts";
import { finalScreen, snapshotOf, viewOf } from "./snapshot.ts";
import type { Piece, Query, Refusal, Result, Work } from "./work.ts";

/** Patterns are searched after each so many bytes, so that no line scrolls out of the history unsearched. */
const searchBytes = 4096;

/** A screen of 100,000 cells with its history and ordinary colours takes some 40 MB. */
const screenBytesMax = 96 * 1024 * 1024;
/** The memory of the emulators is checked when the process has grown by so much. */
const growthBytes = 64 * 1024 * 1024;

interface OpenScreen {
  emulator: Emulator;
  matchers: Map<number, Matcher>;
  wantsReplies: boolean;
  replies: string;
}

export class ScreenReader {
  readonly #opened = new Map<number, OpenScreen>();
  #residentBytes = process.memoryUsage.rss();

  do(work: Work): Result {
    const began = process.cpuUsage();
    const result: Result = {
      replies: "",
      found: [],
      refused: [],
      isBetweenSequences: true,
      scrollsPlainly: false,
      busyMs: 0,
      dropped: [],
    };
    try {
      if (work.fresh) this.#open(work.screen, work.fresh);
      const opened = this.#opened.get(work.screen);
      if (opened) this.#feed(opened, work, result);
      if (work.query) answer(work.query, opened?.emulator, result);
    } catch (error) {
      // A bug of the emulator. Without a result the daemon would wait for the timeout.
      result.broken = `its output cannot be read: ${(error as Error).message}`;
      this.#close(work.screen);
    }
    if (work.close) this.#close(work.screen);
    result.dropped = this.#dropLargest();
    const { user, system } = process.cpuUsage(began);
    result.busyMs = (user + system) / 1000;
    return result;
  }

  #open(screen: number, size: { cols: number; rows: number }): void {
    this.#close(screen);
    const opened: OpenScreen = {
      emulator: new Emulator(size, (text) => {
        if (opened.wantsReplies) opened.replies += text;
      }),
      matchers: new Map(),
      wantsReplies: false,
      replies: "",
    };
    this.#opened.set(screen, opened);
  }

  #close(screen: number): void {
    this.#opened.get(screen)?.emulator.dispose();
    this.#opened.delete(screen);
  }

  #feed(opened: OpenScreen, { pieces, patterns }: Work, result: Result): void {
    const { emulator, matchers } = opened;
    for (const [number, pattern] of patterns) {
      matchers.delete(number);
      try {
        if (pattern) matchers.set(number, new Matcher(pattern));
      } catch (error) {
        result.refused.push([number, refusalOf(error)]);
      }
    }
    const search = () => {
      for (const [number, matcher] of matchers) {
        try {
          const found: Found = matcher.search(emulator);
          if (!found) continue;
          result.found.push([number, found]);
        } catch (error) {
          result.refused.push([number, refusalOf(error)]);
        }
        matchers.delete(number);
      }
    };
    if (patterns.length > 0) search();
    for (const piece of pieces) feedPiece(opened, piece, search);
    result.replies = opened.replies;
    opened.replies = "";
    result.isBetweenSequences = emulator.isBetweenSequences;
    result.scrollsPlainly = emulator.scrollsPlainly;
  }

  #dropLargest(): number[] {
    if (process.memoryUsage.rss() - this.#residentBytes < growthBytes) return [];
    const dropped = [...this.#opened]
      .filter(([, { emulator }]) => emulator.estimatedBytes > screenBytesMax)
      .map(([screen]) => screen);
    for (const screen of dropped) this.#close(screen);
    Bun.gc(true);
    this.#residentBytes = process.memoryUsage.rss();
    return dropped;
  }
}

function refusalOf(error: unknown): Refusal {
  if (!(error instanceof PatternError)) throw error;
  const { message, needsBacktracking } = error;
  return { message, needsBacktracking };
}

function feedPiece(opened: OpenScreen, piece: Piece, search: () => void): void {
  const { emulator, matchers } = opened;
  if ("size" in piece) {
    emulator.resize(piece.size);
    search();
    return;
  }
  opened.wantsReplies = piece.wantsReplies;
  if (matchers.size === 0) {
    emulator.write(piece.bytes);
    return;
  }
  for (let at = 0; at < piece.bytes.length; at += searchBytes) {
    emulator.write(piece.bytes.subarray(at, at + searchBytes));
    search();
  }
}

function answer(query: Query, emulator: Emulator | undefined, result: Result): void {
  if (query.kind === "match") {
    try {
      result.answer = new Matcher(query.pattern).match(query.text);
    } catch (error) {
      result.refusal = refusalOf(error);
    }
    return;
  }
  if (!emulator) return;
  try {
    if (query.kind === "shown") result.answer = snapshotOf(viewOf(emulator), query.format, query.scrollback);
    if (query.kind === "redraw") result.answer = emulator.redraw(query.scrollback);
    if (query.kind === "final") result.answer = finalScreen(emulator);
  } catch (error) {
    const message = `the screen cannot be drawn: ${(error as Error).message}`;
    result.refusal = { message, needsBacktracking: false };
  }
}
