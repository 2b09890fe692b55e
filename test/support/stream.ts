// Follows a stream: bytes and offsets checked as they come, hashed per stream, never all held.
import type { Frame, Wire } from "./wire.ts";

export interface RemoteSubscription {
  exit: Frame;
  stdout: { hash: string; bytes: number; from: number };
  stderr: { hash: string; bytes: number; from: number };
  frames: number;
  gaps: Frame[];
}

class Side {
  readonly hasher = new Bun.CryptoHasher("sha256");
  bytes = 0;
  from = -1;
  next = -1;

  take(data: Buffer, offset: number): void {
    if (this.next === -1) this.from = offset;
    else if (offset !== this.next) throw new Error(`expected offset ${this.next}, got ${offset}`);
    this.hasher.update(data);
    this.bytes += data.length;
    this.next = offset + data.length;
  }

  skip(to: number): void {
    this.next = to;
  }

  summary() {
    return { hash: this.hasher.digest("hex"), bytes: this.bytes, from: this.from };
  }
}

/** Resolves with the exit frame of the stream; the connection is not for anything else meanwhile. */
export function follow(
  wire: Wire,
  streamId: string,
  encoding: "utf8" | "base64" = "utf8",
): Promise<RemoteSubscription> {
  const sides = { stdout: new Side(), stderr: new Side() };
  const gaps: Frame[] = [];
  let frames = 0;
  const earlier = wire.frames.filter((frame) => frame["stream_id"] === streamId && "type" in frame);
  return new Promise((resolve, reject) => {
    const take = (frame: Frame) => {
      if (frame["stream_id"] !== streamId || "id" in frame) return;
      frames++;
      try {
        if (frame["type"] === "stdout" || frame["type"] === "stderr") {
          sides[frame["type"] as "stdout"].take(Buffer.from(frame["data"], encoding), frame["offset"]);
        } else if (frame["type"] === "gap") {
          gaps.push(frame);
          sides[frame["stream"] as "stdout"].skip(frame["to"]);
        } else if (frame["type"] === "exit") {
          resolve({
            exit: frame,
            stdout: sides.stdout.summary(),
            stderr: sides.stderr.summary(),
            frames,
            gaps,
          });
        } else if (frame["type"] === "lagged") {
          reject(new Error("lagged"));
        }
      } catch (error) {
        reject(error);
      }
    };
    for (const frame of earlier) take(frame);
    wire.onFrame = take;
  });
}

export const sha256 = (data: string | Uint8Array): string =>
  new Bun.CryptoHasher("sha256").update(data).digest("hex");
