// What the daemon asks of its screen process: one piece of work at a time for one terminal, and one result.

import type { Snapshot, SnapshotFormat } from "../../../protocol/pty.ts";
import type { FinalScreenState } from "../../../upgrade/schema/terminals.ts";
import type { TerminalSize } from "../drivers/driver.ts";

/** Output, or a new size between two pieces of output. */
export type Piece =
  | { bytes: Uint8Array /** The program's questions in it are to be answered. */; isAsked: boolean }
  | { size: TerminalSize };

/** What a `pty.wait` looks for. */
export interface Pattern {
  text?: string | undefined;
  regex?: string | undefined;
  /** The expression may be one for a backtracking engine, which can take as long as it likes. */
  mayBacktrack?: boolean;
}

/** Why a pattern is not looked for. */
export interface Refusal {
  message: string;
  /** Only a backtracking engine takes the expression. */
  needsBacktracking: boolean;
}

export type Query =
  | { kind: "read" }
  | { kind: "shown"; format: SnapshotFormat; scrollback: number }
  | { kind: "redraw"; scrollback: number }
  | { kind: "final" }
  /** Of text that the daemon keeps itself. */
  | { kind: "match"; text: string; pattern: Pattern };

export type Shown = Omit<Snapshot, "cols" | "rows" | "offset">;

export interface Answers {
  read: undefined;
  shown: Shown;
  redraw: string;
  final: FinalScreenState;
  match: "text" | "regex" | undefined;
}
export type Answer<Q extends Query> = Answers[Q["kind"]];

export interface Asked<Q extends Query> {
  answer: Answer<Q>;
  /** Where the output goes on behind the answer: not in the middle of a sequence or a character. */
  offset: number;
}

/** A query that waits for its turn. */
export interface PendingQuery extends PromiseWithResolvers<Asked<Query>> {
  query: Query;
  key: string;
  /** Everything before this offset has to be read first. */
  target: number;
}

export interface Work {
  /** Number of the screen; the daemon never uses one twice. */
  screen: number;
  /** Begin with a new emulator of this size. */
  fresh?: TerminalSize;
  pieces: Piece[];
  /** Patterns to look for from here on, by their numbers; undefined takes one back. */
  patterns: [number, Pattern | undefined][];
  query?: Query;
  /** The emulator is not needed any more. */
  close?: boolean;
}

export interface Result {
  /** Answers to the program's questions. */
  replies: string;
  found: [number, "text" | "regex"][];
  refused: [number, Refusal][];
  /** The query's. */
  answer?: unknown;
  /** The reason why the query has no answer. */
  refusal?: Refusal;
  /** No sequence is half read. */
  isBetweenSequences: boolean;
  /** Text that only scrolls would push out everything that is there. */
  scrollsPlainly: boolean;
  /** The emulator could not read the output, and is closed: the reason. */
  broken?: string;
  /** Processor time of the work. */
  busyMs: number;
  /** Screens that were dropped, because they took more memory than one may have. */
  dropped: number[];
}
