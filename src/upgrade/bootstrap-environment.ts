// What a program finds in its environment when it is started to take another's place, and the way back.

import { closeSync } from "node:fs";
import * as v from "valibot";
import { execProgram, unsetVariable } from "../platform/exec.ts";
import { blockSignals } from "../platform/linux/held-signals.ts";
import { keepAcrossExec, nameProcess } from "../platform/linux/inheritance.ts";
import { openStateFile, type Received } from "./state-file.ts";

export const bootstrapVariable = "TRL_HANDOVER";

const BootstrapEnvironment = v.variant("kind", [
  /** The document is on standard input: would you understand it? */
  v.object({ kind: v.literal("trial") }),
  v.object({
    kind: v.picklist(["forth", "back"]),
    /** The parcel, and all that it refers to. */
    parcelFd: v.number(),
    descriptors: v.array(v.number()),
    /** The program that was there before, whatever has become of its file; where it is, and its arguments. */
    programFd: v.number(),
    argv: v.array(v.string()),
    version: v.string(),
    /** Why the one that should have come has not, for the one that is back. */
    failure: v.optional(v.string()),
    failedVersion: v.optional(v.string()),
  }),
]);
export type BootstrapEnvironment = v.InferOutput<typeof BootstrapEnvironment>;
export type Delivery = Exclude<BootstrapEnvironment, { kind: "trial" }>;

/** Undefined in a program that nobody has handed anything. It is nobody else's business afterwards. */
export function readBootstrapEnvironment(
  env: Record<string, string | undefined>,
): BootstrapEnvironment | undefined {
  const text = env[bootstrapVariable];
  if (!text) return undefined;
  delete env[bootstrapVariable];
  unsetVariable(bootstrapVariable);
  return v.parse(BootstrapEnvironment, JSON.parse(text));
}

/** The parcel is read; its descriptors are ours from now on, and not those of what we start. */
export function accept(letter: Delivery): Received {
  const received = openStateFile(letter.parcelFd);
  keepAll(letter, false);
  return received;
}

function keepAll({ parcelFd, programFd, descriptors }: Delivery, isKept: boolean): void {
  for (const fd of [...descriptors, parcelFd, programFd]) keepAcrossExec(fd, isKept);
}

/** All of it stands. */
export function conclude({ kind, parcelFd, programFd }: Delivery, { document }: Received): void {
  if (kind === "back") nameProcess("trl");
  // The door for HTTP has another number now.
  for (const fd of [parcelFd, programFd, document.http?.fd]) if (fd !== undefined) closeSync(fd);
}

/** To the program that was there before; comes back only where that cannot be. Nothing has been read or written yet. */
export function rollBack(letter: Delivery, failure: string, version: string): void {
  if (letter.kind === "back") return; // it is that one already
  keepAll(letter, true); // Bun, when it starts, has all of them closed by the next exec
  blockSignals();
  const back: BootstrapEnvironment = {
    ...letter,
    kind: "back",
    failure: failure.slice(0, 500),
    failedVersion: version,
  };
  const env = { [bootstrapVariable]: JSON.stringify(back) };
  execProgram({ path: pathOf(letter.programFd), argv: letter.argv, env });
}

/** A file that has no name any more has one here. */
export const pathOf = (fd: number): string => `/dev/fd/${fd}`;
