// A program that takes another's place: what it finds, and when it is there.
import type { Log } from "../core/log.ts";
import type { SessionRegistry } from "../core/session/registry.ts";
import { type InstanceLock, keptLock } from "../daemon/instance-lock.ts";
import { unblockSignals } from "../platform/linux/held-signals.ts";
import { readGate } from "../platform/read-gate.ts";
import { version } from "../util/version.ts";
import { accept, conclude, type Delivery, rollBack } from "./bootstrap-environment.ts";
import type { Received } from "./state-file.ts";
import type { Upgrader } from "./upgrader.ts";

export { unblockSignals };

export interface Takeover {
  letter: Delivery;
  received: Received;
}

/** From here on nothing is read, and nobody's end is seen, until all stands. */
export function arrive(letter: Delivery): Takeover {
  readGate.close();
  return { letter, received: accept(letter) };
}

/** What could not be taken over goes back to where it came from. Returns only where there is no such way. */
export function goBack(letter: Delivery, arrival: Takeover | undefined, error: unknown): void {
  if (arrival && !readGate.whenOpen) return; // it has begun to read
  rollBack(letter, error instanceof Error ? error.message : String(error), version);
}

/** Where the daemon is, it was before. */
export function keptInstance({ received }: Takeover, socketPath: string) {
  const { lockFd, runDir } = received.document;
  const lock: InstanceLock | undefined = lockFd === undefined ? undefined : keptLock(lockFd, socketPath);
  return { lock, runDir };
}

/** All stands: it goes on from here, and there is no way back any more. */
export function welcome(
  { letter, received }: Takeover,
  { upgrader, registry, log }: { upgrader: Upgrader; registry: SessionRegistry; log: Log },
): void {
  const { version: from, core, upgrades } = received.document;
  conclude(letter, received);
  upgrader.arrived(letter, upgrades);
  readGate.open();
  log.info(letter.kind === "forth" ? "upgraded" : "back", {
    from,
    to: version,
    pid: process.pid,
    sessions: core.sessions.length,
    commands: core.sessions.filter(({ running }) => running).length,
    terminals: registry.terminals.live.length,
    tookMs: Math.round(received.given.gapMs),
  });
}
