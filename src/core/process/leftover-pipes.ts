// Pipes of ended commands that a background process still holds open: they are read, and it is dropped. Closed, they
// would end that process with its next word.
import type { Packing } from "../../upgrade/schema/fields.ts";
import { PipeReader } from "./pipe-reader.ts";

/** As of nearly every session. */
const none: readonly PipeReader[] = [];

export class LingeringPipes {
  #pipes = none;

  /** Those that another program has read. */
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
