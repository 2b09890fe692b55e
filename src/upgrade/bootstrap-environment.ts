// The bootstrap environment: one variable by which a daemon passes its state to the executable that it becomes. Its name,
// its keys and its kinds are a format between versions of trl and never change.
import * as v from "valibot";
import { unsetVariable } from "../platform/exec.ts";
import { keepAcrossExec } from "../platform/linux/inheritance.ts";

export const bootstrapVariable = "TRL_HANDOVER";

const BootstrapEnvironment = v.variant("kind", [
  /** A check before the upgrade: the program reads a state document from standard input and answers if it can read it. */
  v.object({ kind: v.literal("trial") }),
  /** `forth`: the program takes over. `back`: a rollback to the program that wrote the state. */
  v.object({
    kind: v.picklist(["forth", "back"]),
    /** The state file, and every descriptor that its document refers to. */
    parcelFd: v.number(),
    descriptors: v.array(v.number()),
    /** The previous executable, open because its file may be replaced or deleted, with its arguments and version. */
    programFd: v.number(),
    argv: v.array(v.string()),
    version: v.string(),
    /** In a rollback: why the takeover failed, and the version that failed. */
    failure: v.optional(v.string()),
    failedVersion: v.optional(v.string()),
  }),
]);
export type BootstrapEnvironment = v.InferOutput<typeof BootstrapEnvironment>;
export type TakeoverEnvironment = Exclude<BootstrapEnvironment, { kind: "trial" }>;

/** Undefined in a program that was started anew. Removes the variable, so that no child process inherits it. */
export function readBootstrapEnvironment(
  env: Record<string, string | undefined>,
): BootstrapEnvironment | undefined {
  const text = env[bootstrapVariable];
  if (!text) return undefined;
  delete env[bootstrapVariable];
  unsetVariable(bootstrapVariable);
  return v.parse(BootstrapEnvironment, JSON.parse(text));
}

/** Whether the next exec keeps or closes every descriptor that the environment names. */
export function keepDescriptors(environment: TakeoverEnvironment, isKept: boolean): void {
  const { parcelFd, programFd, descriptors } = environment;
  for (const fd of [...descriptors, parcelFd, programFd]) keepAcrossExec(fd, isKept);
}
