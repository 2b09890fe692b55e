// The end of a tree: SIGTERM to the groups, a grace, SIGKILL, and again until nothing is left.
import { killPatienceMs, killPollMs } from "../limits.ts";
import type { Custody } from "./custody.ts";
import { isLiving, type ProcessEntry, signalProcess } from "./process-table.ts";
import type { Selection } from "./selection.ts";
import { signalAll } from "./signal-all.ts";
import { inSlices, type Steps } from "./slices.ts";
import { Unheard } from "./unheard.ts";

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

/** Resolves when all that `selection` names is dead; with what could not be killed, normally nothing. */
export async function terminate(
  custody: Custody,
  selection: Selection,
  { graceMs, signal = "SIGTERM", whileFrozen, plainShell }: Termination,
): Promise<ProcessEntry[]> {
  const graceEnd = performance.now() + graceMs;
  const unheard = new Unheard(signal);
  await inSlices(unheard.send(custody.find(selection)));
  for (let pause = 1; ; pause = Math.min(pause * 2, lookPauseMs)) {
    const began = performance.now();
    const { members, hasEnded } = await custody.lookForEnd(selection);
    if (hasEnded) return [];
    if (performance.now() >= graceEnd) break;
    const forgetful = members.filter(({ pid }) => pid === plainShell);
    for (const member of [...(await inSlices(unheard.among(members))), ...forgetful])
      signalProcess(member, signal);
    // With thousands a look takes longer than the pause: half of the time is for others.
    const tookMs = performance.now() - began;
    await untilGone(members, Math.min(performance.now() + Math.max(pause, tookMs), graceEnd));
  }
  const deadline = performance.now() + killPatienceMs;
  for (;;) {
    let members: ProcessEntry[] = [];
    const kill = async () => {
      members = await custody.membersOf(selection); // orphans of the dead show up here
      await inSlices(signalAll(members, "SIGKILL"));
    };
    await (whileFrozen ? whileFrozen(kill) : kill());
    await untilGone(members, performance.now() + lookPauseMs);
    const look = await custody.lookForEnd(selection);
    if (look.hasEnded) return [];
    if (performance.now() > deadline) return look.members;
  }
}

/** Each process is asked until it has ended, and then no more: to wait for thousands takes linear time. */
async function untilGone(members: ProcessEntry[], deadline: number): Promise<void> {
  let first = 0;
  for (let pause = 1; ; pause = Math.min(pause * 2, killPollMs)) {
    await Bun.sleep(pause);
    first = await inSlices(firstLiving(members, first));
    if (first === members.length || performance.now() >= deadline) return;
  }
}

function* firstLiving(members: ProcessEntry[], from: number): Steps<number> {
  let at = from;
  for (; at < members.length && !isLiving(members[at]!); at++) yield;
  return at;
}
