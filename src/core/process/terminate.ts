// The end of a tree: SIGTERM to the groups, a grace, SIGKILL, and again until nothing is left.

import { isLiving, type ProcessEntry, signalProcess } from "../../platform/process-table.ts";
import { killPatienceMs, killPollMs } from "../limits.ts";
import { Unheard } from "./missed-signals.ts";
import type { ProcessOwnership } from "./ownership.ts";
import type { Selection } from "./selection.ts";
import { signalAll } from "./signal-all.ts";
import { inSlices, type Steps } from "./time-slicer.ts";

export interface Termination {
  graceMs: number;
  signal?: NodeJS.Signals;
  /** Keeps everybody from forking away while they are killed, where something can. */
  whileFrozen?: ((act: () => Promise<void>) => Promise<void>) | undefined;
  /** A shell without handlers of its own: while it waits for a child that it made just then, it forgets the signal. */
  plainShell?: number | undefined;
}

/** The longest pause between two looks at a tree that is small: something may have been started meanwhile. */
const lookPauseMs = 20;
/** A look at thousands takes longer than that: the pause is so many times as long, and the rest of the time is free. */
const pauseFactor = 2;

/** Resolves when all that `selection` names is dead; with what could not be killed, normally nothing. */
export async function terminate(
  ownership: ProcessOwnership,
  selection: Selection,
  { graceMs, signal = "SIGTERM", whileFrozen, plainShell }: Termination,
): Promise<ProcessEntry[]> {
  const graceEnd = performance.now() + graceMs;
  const unheard = new Unheard(signal);
  await inSlices(unheard.send(ownership.find(selection)));
  let members: ProcessEntry[] = [];
  let tookMs = 0;
  const hasEnded = async () => {
    const began = performance.now();
    const look = await ownership.lookForEnd(selection);
    members = look.members;
    tookMs = performance.now() - began;
    return look.hasEnded;
  };
  for (let pauseMs = 1; !(await hasEnded()); pauseMs = Math.min(pauseMs * 2, lookPauseMs)) {
    const forgetful = members.filter(({ pid }) => pid === plainShell);
    for (const member of [...(await inSlices(unheard.among(members))), ...forgetful])
      signalProcess(member, signal);
    await untilGone(members, Math.max(pauseMs, tookMs * pauseFactor), graceEnd);
    if (performance.now() >= graceEnd) return await killAll();
  }
  return [];

  async function killAll(): Promise<ProcessEntry[]> {
    let deadline = performance.now() + killPatienceMs;
    for (let fewest = Number.POSITIVE_INFINITY; performance.now() < deadline; ) {
      if (whileFrozen) await whileFrozen(async () => kill(await ownership.membersOf(selection)));
      else await kill(members);
      await untilGone(members, Math.max(lookPauseMs, tookMs * pauseFactor), deadline);
      if (await hasEnded()) return []; // orphans of the dead show up here
      // As long as some of them die, the machine is only busy.
      if (members.length < fewest) deadline = performance.now() + killPatienceMs;
      fewest = Math.min(fewest, members.length);
    }
    return members;
  }
}

const kill = async (members: ProcessEntry[]) => inSlices(signalAll(members, "SIGKILL"));

/**
 * Waits for their end, until none has been seen to end for `patienceMs`. Each process is asked until it has ended, and
 * then no more: to wait for thousands takes linear time.
 */
async function untilGone(members: ProcessEntry[], patienceMs: number, deadline: number): Promise<void> {
  let first = 0;
  let end = performance.now() + patienceMs;
  for (let pause = 1; ; pause = Math.min(pause * 2, killPollMs)) {
    await Bun.sleep(pause);
    const before = first;
    first = await inSlices(firstLiving(members, first));
    if (first > before) end = performance.now() + patienceMs;
    if (first === members.length || performance.now() >= Math.min(end, deadline)) return;
  }
}

function* firstLiving(members: ProcessEntry[], from: number): Steps<number> {
  let at = from;
  for (; at < members.length && !isLiving(members[at]!); at++) yield;
  return at;
}
