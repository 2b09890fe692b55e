// Starts one OS process in a session and group of its own, with real pipes for its output.

import { closeFd, createPipe } from "../../platform/libc.ts";
import { endBeforeDaemon } from "../../platform/linux/oom-score.ts";
import { TrlError } from "../../protocol/errors.ts";
import type { ProcessUsage } from "../isolation/meter.ts";
import { ProcessOutput } from "./process-output.ts";
import { usageOf } from "../../platform/process-usage.ts";

export interface SpawnRequest {
  argv: string[];
  /** What the program is told as its name, where that is not where it is found. */
  argv0?: string;
  env: Record<string, string>;
  workingDir: string;
  /** How many pipes lead into the process, as descriptors 3, 4, ... */
  extraInputs: number;
  /** How many lead out of it, after those. */
  extraOutputs?: number;
  /** Descriptor 0 as a pipe to write to; otherwise /dev/null, so that no program waits for or prefers it. */
  openStdin: boolean;
}

export interface ProcessEnd {
  exitCode: number;
  signal: string | null;
  /** What ended was the command alone: its process waits for another. */
  goesOn?: boolean;
}

export interface SpawnedProcess {
  pid: number;
  /** Whoever takes the process sees to it that it is read or closed. */
  output: ProcessOutput;
  /** Write ends. */
  stdinFd: number | undefined;
  extraFds: number[];
  /** Read ends. */
  extraOutFds: number[];
  exited: Promise<ProcessEnd>;
  /** Of the process and of those that it waited for; undefined until it has ended. */
  usage(): ProcessUsage | undefined;
}

type Stdio = ("ignore" | number)[];

export function spawnProcess(request: SpawnRequest): SpawnedProcess {
  const opened: number[] = [];
  const newPipe = () => {
    const pipe = createPipe();
    opened.push(pipe.readFd, pipe.writeFd);
    return pipe;
  };
  try {
    const stdin = request.openStdin ? newPipe() : undefined;
    const stdout = newPipe();
    const stderr = newPipe();
    const extras = Array.from({ length: request.extraInputs }, newPipe);
    const extraOuts = Array.from({ length: request.extraOutputs ?? 0 }, newPipe);
    const stdio: Stdio = [
      stdin?.readFd ?? "ignore",
      stdout.writeFd,
      stderr.writeFd,
      ...extras.map((pipe) => pipe.readFd),
      ...extraOuts.map((pipe) => pipe.writeFd),
    ];
    const child = start(request, stdio);
    endBeforeDaemon(child.pid);
    for (const fd of stdio) if (typeof fd === "number") closeFd(fd);
    return {
      pid: child.pid,
      output: new ProcessOutput(stdout.readFd, stderr.readFd),
      stdinFd: stdin?.writeFd,
      extraFds: extras.map((pipe) => pipe.writeFd),
      extraOutFds: extraOuts.map((pipe) => pipe.readFd),
      exited: child.exited.then((exitCode) => ({ exitCode, signal: child.signalCode as string | null })),
      usage: () => usageOf(child),
    };
  } catch (error) {
    for (const fd of opened) closeFd(fd);
    const reason = error instanceof Error ? error.message : String(error);
    throw new TrlError("SPAWN_FAILED", `${request.argv[0]} could not be started: ${reason}`);
  }
}

/** Gives the child these descriptors, from 0 on. */
const start = ({ argv, argv0, workingDir, env }: SpawnRequest, stdio: Stdio): Bun.Subprocess =>
  Bun.spawn(argv, {
    cwd: workingDir,
    ...(argv0 === undefined ? {} : { argv0 }),
    env,
    detached: true,
    stdio: stdio as ["ignore", number, number],
  });
