// A process that the previous program of an upgrade started: its pipes, and how it ends.
import { closeSync } from "node:fs";
import { createPipe } from "../../platform/libc.ts";
import { exitOfAdopted } from "../../platform/linux/adopted-children.ts";
import type { ProcessUsage } from "../../platform/process-usage.ts";
import type { RunningCommandState } from "../../upgrade/schema/commands.ts";
import { ProcessOutput } from "./process-output.ts";
import type { SpawnedProcess } from "./spawn.ts";

type AdoptedState = Pick<RunningCommandState, "pid" | "stdoutFd" | "stderrFd">;

export function adoptProcess({ pid, stdoutFd, stderrFd }: AdoptedState): SpawnedProcess {
  let usage: ProcessUsage | undefined;
  return {
    pid,
    output: new ProcessOutput(stdoutFd ?? endedPipe(), stderrFd ?? endedPipe()),
    stdinFd: undefined,
    extraFds: [],
    extraOutFds: [],
    exited: exitOfAdopted(pid).then((exit) => {
      usage = exit.usage;
      return { exitCode: exit.exitCode, signal: exit.signal };
    }),
    usage: () => usage,
  };
}

/** Replaces a pipe that had reached its end before the upgrade. */
function endedPipe(): number {
  const { readFd, writeFd } = createPipe();
  closeSync(writeFd);
  return readFd;
}
