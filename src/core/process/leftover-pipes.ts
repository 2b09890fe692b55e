// Pipes of ended commands that a background process still holds open. They are read and the output is dropped: with a
// closed pipe the process would get SIGPIPE on its next write.
import type { Packing } from "../../upgrade/schema/fields.ts";
import { PipeReader } from "./pipe-reader.ts";

/** Shared, as nearly every session has none. */
const none: readonly PipeReader[] = [];

export class LeftoverPipes {
  #pipes = none;

  /** Takes over the pipes that the program before an upgrade has read. */
  constructor(fds: number[]) {
    this.add(fds.map((fd) => new PipeReader(fd, () => {})));
  }

  add(pipes: PipeReader[]): void {
    const open = [...this.#pipes, ...pipes].filter(({ isEnded }) => !isEnded);
    this.#pipes = open.length > 0 ? [...new Set(open)] : none;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#pipes.map((pipe) => pipe.stop()));
  }

  pack(packing: Packing): number[] {
    return this.#pipes.filter((pipe) => !pipe.isEnded).map(({ fd }) => packing.descriptor(fd));
  }
}
