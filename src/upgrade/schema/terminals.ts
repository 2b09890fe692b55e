// Terminals in the state document.
import * as v from "valibot";
import { exitReasons } from "../../protocol/exec.ts";
import { Receipt } from "../../protocol/isolation.ts";
import { MeterState } from "./commands.ts";
import { Bytes, Descriptor, Env, Exit, Moment, Size, SteadyMs } from "./fields.ts";

export const RingState = v.object({ start: v.number(), bytes: Bytes });
export type RingState = v.InferOutput<typeof RingState>;

/** `replay`: the emulator gets the whole ring again. `redraw`: it gets `data`, then the ring from offset `goesOnAt`. */
export const ScreenState = v.variant("kind", [
  v.object({
    kind: v.literal("replay"),
    firstSize: Size,
    resizes: v.array(v.object({ ...Size.entries, offset: v.number() })),
    error: v.optional(v.string()),
  }),
  v.object({
    kind: v.literal("redraw"),
    size: Size,
    data: Bytes,
    goesOnAt: v.number(),
    error: v.optional(v.string()),
  }),
]);
export type ScreenState = v.InferOutput<typeof ScreenState>;

export const FinalScreenState = v.object({
  rows: v.number(),
  lines: v.array(v.string()),
  styled: v.array(v.string()),
  screen: v.string(),
  history: v.string(),
  cursor: v.object({ row: v.number(), col: v.number(), visible: v.boolean() }),
  title: v.string(),
  isAlternate: v.boolean(),
  error: v.optional(v.string()),
});
export type FinalScreenState = v.InferOutput<typeof FinalScreenState>;

/** A terminal with a running program. */
export const LivePtyState = v.object({ masterFd: Descriptor, pending: Bytes });
export type LivePtyState = v.InferOutput<typeof LivePtyState>;

export const TerminalState = v.object({
  id: v.string(),
  name: v.nullable(v.string()),
  shell: v.string(),
  command: v.nullable(v.string()),
  driver: v.picklist(["native", "bun-pty"]),
  workingDir: v.string(),
  idleTimeoutS: v.number(),
  maxAgeS: v.number(),
  enclosure: v.optional(v.number()),
  env: Env,
  pid: v.number(),
  size: Size,
  createdAt: Moment,
  createdSteadyMs: v.optional(SteadyMs),
  lastActivity: Moment,
  lastActivitySteadyMs: v.optional(SteadyMs),
  ring: RingState,
  screen: v.optional(ScreenState),
  final: v.optional(FinalScreenState),
  /** Run time of the program. */
  elapsedMs: v.number(),
  meter: v.optional(MeterState),
  live: v.optional(LivePtyState),
  ended: v.optional(
    v.object({
      exit: Exit,
      at: Moment,
      atSteadyMs: v.optional(SteadyMs),
      reason: v.picklist(exitReasons),
      receipt: Receipt,
    }),
  ),
});
export type TerminalState = v.InferOutput<typeof TerminalState>;
