// Restores a command that ran during an upgrade.
import type { RunningCommandState } from "../../upgrade/schema/commands.ts";
import type { Unpacking } from "../../upgrade/schema/fields.ts";
import type { MeteredRun } from "../isolation/metered-run.ts";
import { adoptProcess } from "../process/adopt-process.ts";
import type { ProcessOwnership } from "../process/ownership.ts";
import { PipeWriter } from "../process/pipe-writer.ts";
import { Command } from "./command.ts";
import { CommandOutput } from "./output.ts";

export function resumeCommand(
  state: RunningCommandState,
  given: Unpacking,
  metering: MeteredRun,
  ownership: ProcessOwnership,
): Command {
  return new Command({
    id: state.id,
    process: adoptProcess(state),
    canBeHandedOver: () => true,
    ownership,
    timeoutS: state.timeoutS,
    output: CommandOutput.from(state.output, given),
    input: state.input && PipeWriter.from(state.input, given),
    metering,
    mayHandleSignals: () => state.mayHandleSignals,
    before: {
      startedAt: new Date(state.startedAt),
      elapsedMs: state.elapsedMs + given.gapMs,
      lastSignal: state.lastSignal as NodeJS.Signals | undefined,
    },
  });
}
