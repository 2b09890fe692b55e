// The terminal of a program that was started before an upgrade: the daemon inherits the descriptor of the master, and
// the program is no child that Bun knows.

import { duplicate } from "../../../platform/libc.ts";
import { exitOfAdopted } from "../../../platform/linux/adopted-children.ts";
import { readGate } from "../../../platform/read-gate.ts";
import type { Unpacking } from "../../../upgrade/schema/fields.ts";
import type { LivePtyState } from "../../../upgrade/schema/terminals.ts";
import type { ProcessUsage } from "../../isolation/meter.ts";
import { PipeReader } from "../../process/pipe-reader.ts";
import type { PtyExit, PtyProcess, PtySpec } from "./driver.ts";
import { directReader, MasterPty, OutputCounter, type PtyOutput, type PtyProgram } from "./master-pty.ts";
import { MasterWriter } from "./master-writer.ts";

export function adoptPty(
  pid: number,
  { masterFd, pending }: LivePtyState,
  unpacking: Unpacking,
  onOutput: PtySpec["onOutput"],
): PtyProcess {
  const counter = new OutputCounter(onOutput);
  const writer = new MasterWriter(masterFd);
  const output = directReader(masterFd, counter.push) ?? readByBun(masterFd, counter.push);
  const input = unpacking.bytes(pending);
  // Until the read gate opens, a rollback must find the input unwritten.
  void Promise.resolve(readGate.whenOpen).then(() => writer.write(input));
  return new MasterPty(new AdoptedProgram(pid), writer, output, counter);
}

class AdoptedProgram implements PtyProgram {
  readonly exit: Promise<PtyExit>;
  #usage: ProcessUsage | undefined;

  constructor(readonly pid: number) {
    this.exit = exitOfAdopted(pid).then(({ usage, ...exit }) => {
      this.#usage = usage;
      return exit;
    });
  }

  usage(): ProcessUsage | undefined {
    return this.#usage;
  }
}

function readByBun(masterFd: number, onOutput: PtySpec["onOutput"]): PtyOutput {
  const fd = duplicate(masterFd);
  if (fd === undefined) throw new Error("no more file descriptors for a terminal");
  const pipe = new PipeReader(fd, onOutput);
  return { ended: pipe.ended, finish: () => pipe.stop() };
}

/** For a program that had ended before the upgrade. */
export const endedPty = (pid: number): PtyProcess => ({
  pid,
  exited: new Promise(() => {}),
  ended: new Promise(() => {}),
  write() {},
  pendingBytes: 0,
  resize() {},
  usage: () => undefined,
  isAtRest: true,
});
