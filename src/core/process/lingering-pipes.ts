// Pipes of ended commands that a background process still holds open: they are read, and it is dropped. Closed, they
// would end that process with its next word.
import type { Packing } from "../../protocol/handover/pieces.ts";
import { PipeReader } from "./pipe-reader.ts";

export class LingeringPipes {
  readonly #pipes = new Set<PipeReader>();

  /** Those that another program has read. */
  constructor(fds: number[]) {
    for (const fd of fds) this.#pipes.add(new PipeReader(fd, () => {}));
  }

  add(pipes: PipeReader[]): void {
    for (const pipe of this.#pipes) if (pipe.isEnded) this.#pipes.delete(pipe);
    for (const pipe of pipes) if (!pipe.isEnded) this.#pipes.add(pipe);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#pipes].map((pipe) => pipe.stop()));
  }

  pack(packing: Packing): number[] {
    return [...this.#pipes].filter((pipe) => !pipe.isEnded).map(({ fd }) => packing.descriptor(fd));
  }
}
