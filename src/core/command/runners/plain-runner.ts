// Runs each command as `shell -c`, without state between commands. Also for shells that are not POSIX-like (fish, python).
import type { RunnerState } from "../../../upgrade/schema/commands.ts";
import type { SessionIsolation } from "../../isolation/session-isolation.ts";
import { type Env, overlayEnv } from "../../process/environment.ts";
import type { ProcessOwnership } from "../../process/ownership.ts";
import { spawnProcess } from "../../process/spawn.ts";
import { tagNames } from "../../process/tags.ts";
import { sessionPathsOf } from "../session-paths.ts";
import type { CommandRunner, Launched, LaunchRequest } from "./runner.ts";

export interface PlainSpec {
  sessionId: string;
  shell: string;
  env: Env;
  tags: Env;
  workingDir: string;
  ownership: ProcessOwnership;
  sessionIsolation: SessionIsolation | undefined;
}

export class PlainRunner implements CommandRunner {
  readonly isStateful = false;
  readonly #spec: PlainSpec;

  constructor(spec: PlainSpec) {
    this.#spec = spec;
  }

  get workingDir(): string {
    return this.#spec.workingDir;
  }

  get exportedNames(): string[] {
    return Object.keys({ ...this.#spec.env, ...this.#spec.tags });
  }

  launch(request: LaunchRequest): Launched {
    const { shell, env, tags, sessionId, ownership, sessionIsolation } = this.#spec;
    const own = this.#spec.workingDir;
    const workingDir = sessionPathsOf(sessionIsolation).require(request.workingDir ?? own, own);
    const plain = [shell, "-c", request.command];
    const { argv, cwd } = sessionIsolation?.wrap(plain, { workingDir }) ?? { argv: plain, cwd: workingDir };
    const spec = {
      argv,
      env: { ...overlayEnv(env, request.env), ...tags, [tagNames.command]: request.commandId },
      workingDir: cwd,
      extraInputs: 0,
      openStdin: request.wantsStdin,
    };
    const process = ownership.start(sessionId, () => spawnProcess(spec));
    ownership.addRoot(process.pid, { sessionId, commandId: request.commandId });
    return {
      process,
      canBeHandedOver: () => true,
      stdinFd: process.stdinFd,
      mayHandleSignals: () => true,
      begin: () => {},
      settle: () => true,
    };
  }

  readonly isAtRest = true;
  rest(): void {}

  pack(): RunnerState {
    const { env, workingDir } = this.#spec;
    return { kind: "plain", env, workingDir };
  }

  settleResumed(): void {}

  async dispose(): Promise<void> {}
}
