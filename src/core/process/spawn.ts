// Starts one process in a process session and group of its own, with real pipes for its output.

import { closeFd, createPipe } from "../../platform/libc.ts";
import { killBeforeDaemon } from "../../platform/oom-score.ts";
import type { ProcessUsage } from "../../platform/process-usage.ts";
import { usageOf } from "../../platform/process-usage.ts";
import { TrlError } from "../../protocol/errors.ts";
import { ProcessOutput } from "./process-output.ts";

export interface SpawnRequest {
  argv: string[];
  /** The program's argv[0], if it differs from its path. */
  argv0?: string;
  env: Record<string, string>;
  workingDir: string;
  /** The number of pipes into the process, as descriptors 3, 4, ... */
  extraInputs: number;
  /** The number of pipes out of it, as the descriptors after those. */
  extraOutputs?: number;
  /** Descriptor 0 is a pipe for input; otherwise /dev/null, so that no program waits for input. */
  openStdin: boolean;
}

export interface ProcessEnd {
  exitCode: number;
  signal: string | null;
  /** Only the command has ended: its process waits for the next one. */
  goesOn?: boolean;
}

export interface SpawnedProcess {
  pid: number;
  /** The caller has to open or close it. */
  output: ProcessOutput;
  /** Write ends. */
  stdinFd: number | undefined;
  extraFds: number[];
  /** Read ends. */
  extraOutFds: number[];
  exited: Promise<ProcessEnd>;
  /** Of the process and the descendants that it waited for; undefined until it has ended. */
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
    killBeforeDaemon(child.pid);
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

/** `stdio` are the child's descriptors from 0 on. */
const start = ({ argv, argv0, workingDir, env }: SpawnRequest, stdio: Stdio): Bun.Subprocess =>
  Bun.spawn(argv, {
    cwd: workingDir,
    ...(argv0 === undefined ? {} : { argv0 }),
    env,
    detached: true,
    stdio: stdio as ["ignore", number, number],
  });
