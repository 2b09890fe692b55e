// One `shell -c` a command; nothing is carried over. Also for shells that are not POSIX-like (fish, python).
import type { ExecutorState } from "../../../upgrade/schema/commands.ts";
import type { Enclosure } from "../../isolation/session-isolation.ts";
import { type Env, overlayEnv } from "../../process/environment.ts";
import type { Custody } from "../../process/ownership.ts";
import { spawnProcess } from "../../process/spawn.ts";
import { tagNames } from "../../process/tags.ts";
import { placesOf } from "../session-paths.ts";
import type { Executor, Launched, LaunchRequest } from "./runner.ts";

export interface PlainSpec {
  sessionId: string;
  shell: string;
  env: Env;
  tags: Env;
  workingDir: string;
  custody: Custody;
  enclosure: Enclosure | undefined;
}

export class PlainExecutor implements Executor {
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
    const { shell, env, tags, sessionId, custody, enclosure } = this.#spec;
    const own = this.#spec.workingDir;
    const workingDir = placesOf(enclosure).require(request.workingDir ?? own, own);
    const plain = [shell, "-c", request.command];
    const { argv, cwd } = enclosure?.wrap(plain, { workingDir }) ?? { argv: plain, cwd: workingDir };
    const spec = {
      argv,
      env: { ...overlayEnv(env, request.env), ...tags, [tagNames.command]: request.commandId },
      workingDir: cwd,
      extraInputs: 0,
      openStdin: request.wantsStdin,
    };
    const process = custody.start(sessionId, () => spawnProcess(spec));
    custody.addRoot(process.pid, { sessionId, commandId: request.commandId });
    return {
      process,
      canBeHandedOver: () => true,
      stdinFd: process.stdinFd,
      mayHandleSignals: () => true,
      begin: () => {},
      settle: () => {},
    };
  }

  readonly isAtRest = true;
  rest(): void {}

  pack(): ExecutorState {
    const { env, workingDir } = this.#spec;
    return { kind: "plain", env, workingDir };
  }

  settleResumed(): void {}

  async dispose(): Promise<void> {}
}
