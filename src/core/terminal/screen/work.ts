// The messages between the daemon and a screen process: one piece of work for one screen at a time, and one result.

import type { Snapshot, SnapshotFormat } from "../../../protocol/pty.ts";
import type { FinalScreenState } from "../../../upgrade/schema/terminals.ts";
import type { TerminalSize } from "../drivers/driver.ts";

/** Output, or a new size between two pieces of output. */
export type Piece =
  | { bytes: Uint8Array /** The emulator replies to terminal queries in it. */; wantsReplies: boolean }
  | { size: TerminalSize };

/** What a `pty.wait` searches for. */
export interface Pattern {
  text?: string | undefined;
  regex?: string | undefined;
  /** Allows a backtracking engine, which may take more than linear time. */
  mayBacktrack?: boolean;
}

/** Why a pattern is not searched. */
export interface Refusal {
  message: string;
  /** The expression needs a backtracking engine. */
  needsBacktracking: boolean;
}

export type Query =
  | { kind: "read" }
  | { kind: "shown"; format: SnapshotFormat; scrollback: number }
  | { kind: "redraw"; scrollback: number }
  | { kind: "final" }
  /** Searches a text that the daemon has, instead of a screen. */
  | { kind: "match"; text: string; pattern: Pattern };

export type Shown = Omit<Snapshot, "cols" | "rows" | "offset">;

export interface Answers {
  read: undefined;
  shown: Shown;
  redraw: string;
  final: FinalScreenState;
  match: "text" | "regex" | undefined;
}

export interface QueryResult<Q extends Query> {
  answer: Answers[Q["kind"]];
  /** The output continues here after the answer: not inside of a sequence or character. */
  offset: number;
}

export interface PendingQuery extends PromiseWithResolvers<QueryResult<Query>> {
  query: Query;
  key: string;
  /** Output before this offset has to be read first. */
  target: number;
}

export interface Work {
  /** Number of the screen's emulator; a queue never uses one twice. */
  screen: number;
  /** Begins with a new emulator of this size. */
  fresh?: TerminalSize;
  pieces: Piece[];
  /** Patterns to search from here on, by their numbers; undefined removes one. */
  patterns: [number, Pattern | undefined][];
  query?: Query;
  /** Disposes of the emulator. */
  close?: boolean;
}

export interface Result {
  /** Replies to the program's terminal queries. */
  replies: string;
  found: [number, "text" | "regex"][];
  refused: [number, Refusal][];
  /** The answer to `Work.query`. */
  answer?: unknown;
  /** Why the query has no answer. */
  refusal?: Refusal;
  /** The emulator has not read a part of a sequence. */
  isBetweenSequences: boolean;
  /** Plain text scrolls the whole screen: no scroll region or mode prevents it. */
  scrollsPlainly: boolean;
  /** Why the emulator could not read the output; it is disposed of. */
  broken?: string;
  /** Processor time of the work. */
  busyMs: number;
  /** Screens that were dropped because they exceeded their memory limit. */
  dropped: number[];
}
