// How commands get their process: through a stateful shell that is prepared ahead, or plainly by `shell -c`.
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
  /** False for what runs in a shell that goes on, and is over at once, and until its shell was told to begin. */
  canBeHandedOver: () => boolean;
  /** To be written and closed by the caller, where input was wanted. */
  stdinFd: number | undefined;
  /** The user's own, or those of a program that the shell became; false only where that is certain. */
  mayHandleSignals: () => boolean;
  /** Lets it run; to be called once, when all is ready for what it prints. */
  begin(): void;
  /** To be called once, when the command has ended. */
  settle(outcome: CommandOutcome): void;
}

export interface CommandRunner {
  readonly isStateful: boolean;
  /** Where the session stands now. */
  readonly workingDir: string;
  /** Names of the variables that the next command will find exported. */
  readonly exportedNames: readonly string[];
  launch(request: LaunchRequest): Launched;
  /** Lets go of what waits for a command, and has nothing else wait until the next one comes. */
  rest(): void;
  readonly isAtRest: boolean;
  pack(): RunnerState;
  /** To be called once, when the command has ended that ran when the program before handed this over. */
  settleResumed(outcome: CommandOutcome): void;
  /** Ends whatever waits for a command. */
  dispose(): Promise<void>;
}
