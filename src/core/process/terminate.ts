// Ends a tree of processes: SIGTERM to the groups, a grace period, then SIGKILL until nothing is left.

import { isAlive, type ProcessEntry, signalProcess } from "../../platform/process-table.ts";
import { killPollMs, killTimeoutMs } from "../limits.ts";
import { MissedSignals } from "./missed-signals.ts";
import type { ProcessOwnership } from "./ownership.ts";
import { signalAll } from "./signal-all.ts";
import type { Selection } from "./tags.ts";
import type { Steps } from "./time-slicer.ts";

export interface Termination {
  graceMs: number;
  signal?: NodeJS.Signals;
  /** Runs the callback while the processes are frozen and cannot fork, if the session's control group supports it. */
  whileFrozen?: ((act: () => Promise<void>) => Promise<void>) | undefined;
  /** A shell without traps drops a signal that comes while it waits for a child that it has just forked. */
  plainShell?: number | undefined;
}

/** The longest pause between two scans of a small tree: a process may have been started meanwhile. */
const scanPauseMs = 20;
/** A scan of thousands takes longer: the pause is this many times as long, and the time between scans is free. */
const pauseFactor = 2;

/** Resolves when all selected processes are dead, with those that could not be killed: usually none. */
export async function terminate(
  ownership: ProcessOwnership,
  selection: Selection,
  { graceMs, signal = "SIGTERM", whileFrozen, plainShell }: Termination,
): Promise<ProcessEntry[]> {
  const { slicer } = ownership;
  const graceEnd = performance.now() + graceMs;
  const missed = new MissedSignals(signal);
  await slicer.run(missed.send(ownership.scanSteps(selection)));
  let members: ProcessEntry[] = [];
  let scanMs = 0;
  const hasEnded = async () => {
    const began = performance.now();
    const scan = await ownership.scanForEnd(selection);
    members = scan.members;
    scanMs = performance.now() - began;
    return scan.hasEnded;
  };
  for (let pauseMs = 1; !(await hasEnded()); pauseMs = Math.min(pauseMs * 2, scanPauseMs)) {
    const shells = members.filter(({ pid }) => pid === plainShell);
    for (const member of [...(await slicer.run(missed.among(members))), ...shells])
      signalProcess(member, signal);
    await untilDead(members, Math.max(pauseMs, scanMs * pauseFactor), graceEnd);
    if (performance.now() >= graceEnd) return await killAll();
  }
  return [];

  async function killAll(): Promise<ProcessEntry[]> {
    let deadline = performance.now() + killTimeoutMs;
    for (let fewest = Number.POSITIVE_INFINITY; performance.now() < deadline; ) {
      if (whileFrozen) await whileFrozen(async () => kill(await ownership.membersOf(selection)));
      else await kill(members);
      await untilDead(members, Math.max(scanPauseMs, scanMs * pauseFactor), deadline);
      if (await hasEnded()) return []; // the scan also finds orphans of the dead
      // While their number falls, the machine is only busy.
      if (members.length < fewest) deadline = performance.now() + killTimeoutMs;
      fewest = Math.min(fewest, members.length);
    }
    return members;
  }

  async function kill(targets: ProcessEntry[]): Promise<void> {
    await slicer.run(signalAll(targets, "SIGKILL"));
  }

  /** Waits until all are dead, or none has died for `timeoutMs`. Checks each process until it is dead: linear time. */
  async function untilDead(targets: ProcessEntry[], timeoutMs: number, deadline: number): Promise<void> {
    let first = 0;
    let end = performance.now() + timeoutMs;
    for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, killPollMs)) {
      await Bun.sleep(pauseMs);
      const before = first;
      first = await slicer.run(firstAlive(targets, first));
      if (first > before) end = performance.now() + timeoutMs;
      if (first === targets.length || performance.now() >= Math.min(end, deadline)) return;
    }
  }
}

function* firstAlive(members: ProcessEntry[], from: number): Steps<number> {
  let index = from;
  for (; index < members.length && !isAlive(members[index]!); index++) yield;
  return index;
}
