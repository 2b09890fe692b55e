/** Frames that wait for the wire, and how many bytes they are. */
export class FrameQueue {
  bytes = 0;
  #frames: Uint8Array[] = [];

  push(frame: Uint8Array): void {
    this.#frames.push(frame);
    this.bytes += frame.length;
  }

  shift(): Uint8Array | undefined {
    const frame = this.#frames.shift();
    this.bytes -= frame?.length ?? 0;
    return frame;
  }

  clear(): void {
    this.#frames = [];
    this.bytes = 0;
  }
}
