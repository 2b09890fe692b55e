// A terminal whose program another program has started, which has become this one: its master is read and written by
// its descriptor alone.

import { duplicate } from "../../../platform/libc.ts";
import { endOfAdopted } from "../../../platform/linux/adopted-children.ts";
import { readMaster, setSize } from "../../../platform/terminal.ts";
import type { Packing, Unpacking } from "../../../upgrade/schema/fields.ts";
import type { LivePtyState } from "../../../upgrade/schema/terminals.ts";
import type { ProcessUsage } from "../../isolation/meter.ts";
import { PipeReader } from "../../process/pipe-reader.ts";
import { readGate } from "../../process/read-gate.ts";
import { silence } from "../idle-wait.ts";
import type { PtyExit, PtyProcess, PtySpec, TerminalSize } from "./driver.ts";
import { MasterWriter } from "./master-writer.ts";

export class AdoptedPty implements PtyProcess {
  readonly exited: Promise<void>;
  readonly ended: Promise<PtyExit>;
  #hasExited = false;
  #chunks = 0;
  #usage: ProcessUsage | undefined;
  readonly reader: PtyProcess["reader"];
  readonly #writer: MasterWriter;

  constructor(
    { onOutput, readsDirectly }: Pick<PtySpec, "onOutput" | "readsDirectly">,
    readonly pid: number,
    { masterFd, pending }: LivePtyState,
    given: Unpacking,
  ) {
    this.#writer = new MasterWriter(masterFd);
    const printed = (chunk: Uint8Array) => {
      this.#chunks++;
      onOutput(chunk);
    };
    const reader = readsDirectly ? readMaster(masterFd, printed) : undefined;
    const pipe = reader ? undefined : readByBun(masterFd, printed);
    this.reader = reader;
    const input = given.bytes(pending);
    void Promise.resolve(readGate.over).then(() => this.#writer.write(input));
    const end = endOfAdopted(pid);
    this.exited = end.then(() => {
      this.#hasExited = true;
      reader?.programEnded();
    });
    this.ended = end.then(async ({ usage, ...exit }) => {
      this.#usage = usage;
      await Promise.race([(reader ?? pipe)!.ended, silence(() => this.#chunks)]);
      reader?.finish();
      await pipe?.stop();
      this.#writer.close();
      return exit;
    });
  }

  get pendingBytes(): number {
    return this.#writer.pendingBytes;
  }

  write(bytes: Uint8Array): void {
    this.#writer.write(bytes);
  }

  resize(size: TerminalSize): void {
    if (!this.#hasExited) setSize(this.#writer.fd, size);
  }

  usage(): ProcessUsage | undefined {
    return this.#usage;
  }

  get isAtRest(): boolean {
    return !this.#hasExited;
  }

  pack(packing: Packing): LivePtyState {
    const { fd, pending } = this.#writer;
    return { masterFd: packing.descriptor(fd), pending: packing.bytes(pending) };
  }
}

function readByBun(masterFd: number, onOutput: PtySpec["onOutput"]): PipeReader {
  const fd = duplicate(masterFd);
  if (fd === undefined) throw new Error("no more file descriptors for a terminal");
  return new PipeReader(fd, onOutput);
}

/** Of a terminal that ended before. */
export const pastPty = (pid: number): PtyProcess => ({
  pid,
  exited: new Promise(() => {}),
  ended: new Promise(() => {}),
  write() {},
  pendingBytes: 0,
  resize() {},
  usage: () => undefined,
  isAtRest: true,
});
