// The end of a tree: SIGTERM to the groups, a grace, SIGKILL, and again until nobody is left.
import { killPatienceMs, killPollMs } from "../limits.ts";
import type { Custody } from "./custody.ts";
import { type ProcessEntry, sendSignal, signalProcess } from "./process-table.ts";
import type { Selection } from "./selection.ts";
import { Unheard } from "./unheard.ts";

export interface Termination {
  graceMs: number;
  signal?: NodeJS.Signals;
  /** Keeps everybody from forking away while they are killed, where something can. */
  whileFrozen?: ((act: () => void) => Promise<void>) | undefined;
  /** A shell without handlers of its own: while it waits for a child that it made just then, it forgets the signal. */
  plainShell?: number | undefined;
}

/** Resolves when all that `selection` names is dead; with what refused to die, normally nothing. */
export async function terminate(
  custody: Custody,
  selection: Selection,
  { graceMs, signal = "SIGTERM", whileFrozen, plainShell }: Termination,
): Promise<ProcessEntry[]> {
  const unheard = new Unheard(signal, () => custody.membersOf(selection));
  unheard.send(signalAll);
  const tellAgain = () => {
    const members = custody.membersOf(selection);
    const forgetful = members.filter(({ pid }) => pid === plainShell);
    for (const member of [...unheard.among(members), ...forgetful]) signalProcess(member, signal);
  };
  if (await isGoneWithin(graceMs, custody, selection, tellAgain)) return [];
  const deadline = performance.now() + killPatienceMs;
  for (;;) {
    if (custody.hasEnded(selection)) return [];
    let left: ProcessEntry[] = [];
    const kill = () => {
      left = custody.membersOf(selection); // orphans of the dead show up here
      signalAll(left, "SIGKILL");
    };
    if (whileFrozen) await whileFrozen(kill);
    else kill();
    if (performance.now() > deadline) return left;
    await Bun.sleep(killPollMs);
  }
}

/** Each group as a whole, so that nobody forks away between two signals, then whoever is outside of it. */
export function signalAll(members: ProcessEntry[], signal: NodeJS.Signals): void {
  const leaders = new Set(members.filter(({ pid, pgid }) => pid === pgid).map(({ pid }) => pid));
  for (const leader of leaders) {
    sendSignal(-leader, signal);
    if (wakening.includes(signal)) sendSignal(-leader, "SIGCONT");
  }
  for (const member of members) if (!leaders.has(member.pgid)) signalProcess(member, signal);
}

/** They ask for an end, and a stopped process would not hear them. */
const wakening: NodeJS.Signals[] = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"];

async function isGoneWithin(
  ms: number,
  custody: Custody,
  selection: Selection,
  afterLook: () => void,
): Promise<boolean> {
  const deadline = performance.now() + ms;
  for (let pause = 1; ; pause = Math.min(pause * 2, 20)) {
    if (custody.hasEnded(selection)) return true;
    if (performance.now() >= deadline) return false;
    afterLook();
    await Bun.sleep(pause);
  }
}
