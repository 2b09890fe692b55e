// How a session starts its commands: in shells that carry state (stateful-runner.ts), or as `shell -c` (plain-runner.ts).
import type { RunnerState } from "../../../upgrade/schema/commands.ts";
import type { EnvOverrides } from "../../process/environment.ts";
import type { SpawnedProcess } from "../../process/spawn.ts";
import type { CommandOutcome } from "../command.ts";

export interface LaunchRequest {
  commandId: string;
  command: string;
  env: EnvOverrides;
  workingDir: string | undefined;
  wantsStdin: boolean;
}

export interface Launched {
  process: SpawnedProcess;
  /** False before `begin`, and for an in-place run, which is over soon. */
  canBeHandedOver: () => boolean;
  /** The caller writes to it and closes it; present where the request wants input. */
  stdinFd: number | undefined;
  /** Whether the process may have signal handlers; false only where it certainly has none. */
  mayHandleSignals: () => boolean;
  /** Lets the command run. Called once, when its output is being read. */
  begin(): void;
  /** Called once, when the command has ended. False where its shell ended before the command began. */
  settle(outcome: CommandOutcome): boolean;
}

export interface CommandRunner {
  readonly isStateful: boolean;
  /** The session's current directory. */
  readonly workingDir: string;
  /** Names of the variables that the next command inherits. */
  readonly exportedNames: readonly string[];
  launch(request: LaunchRequest): Launched;
  /** Ends shells that wait for a command, and starts none until the next command. */
  rest(): void;
  readonly isAtRest: boolean;
  pack(): RunnerState;
  /** Called once, when a command that ran during an upgrade has ended. */
  settleResumed(outcome: CommandOutcome): void;
  /** Ends shells that wait for a command. */
  dispose(): Promise<void>;
}
