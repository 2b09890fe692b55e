// What the store keeps of a command that has ended, before or after an upgrade.
import type { PastCommandState } from "../../upgrade/schema/commands.ts";
import type { Packing, Unpacking } from "../../upgrade/schema/fields.ts";
import type { CommandOutcome, KnownCommand } from "./command.ts";
import { CommandOutput } from "./output.ts";

export class PastCommand implements KnownCommand {
  readonly id: string;
  readonly pid: number;
  readonly startedAt: Date;
  readonly output: CommandOutput;
  readonly outcome: CommandOutcome;
  readonly input = undefined;

  constructor(known: Pick<KnownCommand, "id" | "pid" | "startedAt" | "output" | "outcome">) {
    this.id = known.id;
    this.pid = known.pid;
    this.startedAt = known.startedAt;
    this.output = known.output;
    this.outcome = known.outcome!;
  }

  static from({ startedAt, output, ...state }: PastCommandState, given: Unpacking): PastCommand {
    const kept = CommandOutput.from(output, given);
    kept.complete();
    return new PastCommand({ ...state, startedAt: new Date(startedAt), output: kept });
  }

  /** The process is gone. */
  signal(): void {}
  stop(): void {}
}

export function packPast(command: KnownCommand, packing: Packing): PastCommandState {
  const { id, pid, startedAt, output, outcome } = command;
  return { id, pid, startedAt: startedAt.getTime(), output: output.pack(packing), outcome: outcome! };
}
