// The takeover: a program that a daemon became reads the state file, restores the services from it, and opens the read
// gate. Until then it reads no output and reaps no child, so that a rollback loses nothing.
import { closeSync } from "node:fs";
import type { Log } from "../../core/log.ts";
import type { SessionRegistry } from "../../core/session/registry.ts";
import { restoreCore } from "../../core/session/upgrade-state.ts";
import { nameProcess } from "../../platform/linux/inheritance.ts";
import { readGate } from "../../platform/read-gate.ts";
import type { ResumePoints } from "../../server/resume-points.ts";
import { version } from "../../util/version.ts";
import { keepDescriptors, type TakeoverEnvironment } from "../bootstrap-environment.ts";
import type { Upgrader } from "../upgrader.ts";
import { type ReceivedState, readStateFile } from "./read-state-file.ts";

export interface Takeover {
  environment: TakeoverEnvironment;
  state: ReceivedState;
}

/** Closes the read gate and reads the state. The inherited descriptors do not reach processes that this one starts. */
export function beginTakeover(environment: TakeoverEnvironment): Takeover {
  readGate.close();
  const state = readStateFile(environment.parcelFd);
  keepDescriptors(environment, false);
  return { environment, state };
}

/** Restores sessions, commands and terminals into an empty registry, and then the resume points of the commands. */
export function restoreSessions(
  registry: SessionRegistry,
  resumePoints: ResumePoints,
  { document, unpacking }: ReceivedState,
): void {
  restoreCore(registry, document.core, unpacking);
  resumePoints.restore(registry.commands, document.heldPlaces);
}

/** Opens the read gate when everything is restored. From here on no rollback is possible. */
export function finishTakeover(
  { environment, state: { document, unpacking } }: Takeover,
  { upgrader, registry, log }: { upgrader: Upgrader; registry: SessionRegistry; log: Log },
): void {
  const { kind, parcelFd, programFd } = environment;
  if (kind === "back") nameProcess("trl"); // exec by a descriptor has named it after the descriptor's number
  // The HTTP listener has duplicated its descriptor.
  for (const fd of [parcelFd, programFd, document.http?.fd]) if (fd !== undefined) closeSync(fd);
  upgrader.recordTakeover(environment, document.upgrades);
  readGate.open();
  const { sessions } = document.core;
  log.info(kind === "forth" ? "upgraded" : "rolled back", {
    from: document.version,
    to: version,
    pid: process.pid,
    sessions: sessions.length,
    commands: sessions.filter(({ running }) => running).length,
    terminals: registry.terminals.live.length,
    tookMs: Math.round(unpacking.gapMs),
  });
}
