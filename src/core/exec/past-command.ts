// A command that ended under another program, which has become this one: what is kept of it.
import type { PastCommandState } from "../../protocol/handover/exec.ts";
import type { Packing, Unpacking } from "../../protocol/handover/pieces.ts";
import type { CommandOutcome, KnownCommand } from "./command.ts";
import { CommandOutput } from "./command-output.ts";

export class PastCommand implements KnownCommand {
  readonly id: string;
  readonly pid: number;
  readonly startedAt: Date;
  readonly output: CommandOutput;
  readonly outcome: CommandOutcome;
  readonly input = undefined;

  constructor(state: PastCommandState, given: Unpacking) {
    this.id = state.id;
    this.pid = state.pid;
    this.startedAt = new Date(state.startedAt);
    this.output = CommandOutput.from(state.output, given);
    this.output.complete();
    this.outcome = state.outcome;
  }

  /** Nobody is there any more. */
  signal(): void {}
  stop(): void {}
}

export function packPast(command: KnownCommand, packing: Packing): PastCommandState {
  const { id, pid, startedAt, output, outcome } = command;
  return { id, pid, startedAt: startedAt.getTime(), output: output.pack(packing), outcome: outcome! };
}
