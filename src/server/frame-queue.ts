/** Frames that wait for the transport, and how many bytes they are. */
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

let lastKept: { frame: Uint8Array; from: number; copy: Uint8Array } | undefined;

/** The rest of a frame. One that many clients get is copied once for all of them who cannot take it now. */
export function keptRest(frame: Uint8Array, from: number): Uint8Array {
  if (lastKept?.frame !== frame || lastKept.from > from)
    lastKept = { frame, from, copy: new Uint8Array(frame.subarray(from)) };
  return lastKept.copy.subarray(from - lastKept.from);
}
