// A process that another program has started, which has become this one: its pipes, and how it ends.
import { closeSync } from "node:fs";
import { createPipe } from "../../platform/libc.ts";
import { endOfAdopted } from "../../platform/linux/adopted-children.ts";
import type { RunningCommandState } from "../../upgrade/schema/commands.ts";
import type { ProcessUsage } from "../isolation/meter.ts";
import { ProcessOutput } from "./process-output.ts";
import type { SpawnedProcess } from "./spawn.ts";

type Known = Pick<RunningCommandState, "pid" | "stdoutFd" | "stderrFd">;

export function adoptProcess({ pid, stdoutFd, stderrFd }: Known): SpawnedProcess {
  let usage: ProcessUsage | undefined;
  return {
    pid,
    output: new ProcessOutput(stdoutFd ?? endedPipe(), stderrFd ?? endedPipe()),
    stdinFd: undefined,
    extraFds: [],
    extraOutFds: [],
    exited: endOfAdopted(pid).then((end) => {
      usage = end.usage;
      return { exitCode: end.exitCode, signal: end.signal };
    }),
    usage: () => usage,
  };
}

/** It has closed its side before. */
function endedPipe(): number {
  const { readFd, writeFd } = createPipe();
  closeSync(writeFd);
  return readFd;
}
