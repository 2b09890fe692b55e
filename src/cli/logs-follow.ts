// Follows the output of a command or terminal of another client, from an offset up to now or to the end.

import type { Encoding, ExitFrame, StreamSummary } from "../protocol/exec.ts";
import type { DaemonClient, StreamFrame, TerminalFrame } from "./client.ts";
import { lostDaemon } from "./errors.ts";
import type { TerminalEntry } from "./sessions.ts";

export type StreamName = "stdout" | "stderr";

export interface Follower {
  output(stream: StreamName, bytes: Buffer): void;
  /** Bytes that the daemon no longer has. */
  gap(stream: StreamName, from: number, to: number): void;
  /** Each frame as received, for --json. */
  frame(frame: object): void;
  /** Resolves when all output so far is written. */
  flush(): Promise<void>;
}

export interface FollowSpec {
  /** Ignored for a terminal, which has one output. */
  streams: StreamName[];
  /** Offset of the first byte. */
  from: number;
  /** Follows to the end instead of stopping at the current offset. */
  isLive: boolean;
  /** For frames of a command; those of a terminal are always base64. */
  encoding: Encoding;
}

interface OutputFrame {
  type: StreamName;
  data: string;
  offset: number;
  /** Set if `data` contains replacement characters, so that its length is not the byte count. */
  bytes?: number;
}

/** A slow reader must not delay the command: the daemon drops the subscriber, which attaches again after a flush. */
const stallTimeoutS = 1;

/** Resolves at the command's end or, without `isLive`, at its current offset. */
export async function followCommand(
  client: DaemonClient,
  { stream_id }: StreamSummary,
  spec: FollowSpec,
  follower: Follower,
): Promise<void> {
  const startOf = (stream: StreamName) => (spec.streams.includes(stream) ? spec.from : 0);
  const at = { stdout: startOf("stdout"), stderr: startOf("stderr") };
  for (let isOver = false; !isOver; ) {
    isOver = await attachOnce(client, stream_id, { ...spec, at, follower });
    await follower.flush();
  }
}

interface Attached extends FollowSpec {
  /** Next offset of each stream. */
  at: Record<StreamName, number>;
  follower: Follower;
}

/** False if the daemon dropped this subscriber as too slow. */
async function attachOnce(client: DaemonClient, id: string, attached: Attached): Promise<boolean> {
  const { at, isLive, encoding } = attached;
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  let end: Record<StreamName, number> | undefined;
  const checkEnd = () => {
    if (end && !isLive && at.stdout >= end.stdout && at.stderr >= end.stderr) resolve(true);
  };
  client.onClose.add(() => reject(lostDaemon()));
  const wanted = { stdout_offset: at.stdout, stderr_offset: at.stderr };
  const reply = await client.attach(
    { stream_id: id, ...wanted, encoding, stall_timeout_s: stallTimeoutS },
    (frame) => {
      take(frame, attached);
      if (frame.type === "exit") resolve(true);
      else if (frame.type === "lagged") resolve(false);
      else checkEnd();
    },
  );
  // A command that has ended sends an exit frame, so only a running one needs an end offset.
  if (reply.state === "running") end = { stdout: reply.stdout_bytes, stderr: reply.stderr_bytes };
  checkEnd();
  return await promise;
}

/** Finds gaps by comparing offsets, also before the first frame and after the last. */
function take(frame: StreamFrame, { at, encoding, streams, follower }: Attached): void {
  if (frame.type === "exit") {
    const { stdout_bytes: stdout, stderr_bytes: stderr } = frame as ExitFrame;
    const end = { stdout, stderr };
    for (const stream of streams) if (end[stream] > at[stream]) follower.gap(stream, at[stream], end[stream]);
    follower.frame(frame);
  }
  if (frame.type !== "stdout" && frame.type !== "stderr") return;
  const { type: stream, data, offset, bytes: count } = frame as unknown as OutputFrame;
  const bytes = Buffer.from(data, encoding);
  const isWanted = streams.includes(stream);
  if (isWanted && offset > at[stream]) follower.gap(stream, at[stream], offset);
  at[stream] = offset + (count ?? bytes.length);
  if (!isWanted) return;
  follower.frame(frame);
  follower.output(stream, bytes);
}

/** Like followCommand, for the single output of a terminal. */
export async function followTerminal(
  client: DaemonClient,
  { session_id, first_offset, offset: end }: TerminalEntry,
  { from, isLive }: FollowSpec,
  follower: Follower,
): Promise<void> {
  const first = Math.max(from, first_offset);
  if (first > from) follower.gap("stdout", from, first);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  client.onClose.add(() => reject(lostDaemon()));
  const takeFrame = (frame: TerminalFrame) => {
    follower.frame(frame);
    if (frame.type === "exit") return resolve();
    if (frame.type === "gap") return follower.gap("stdout", frame.from, frame.to);
    if (frame.type !== "output") return;
    const bytes = Buffer.from(frame.data, "base64");
    follower.output("stdout", bytes);
    const next = frame.offset + (frame.redraw ? 0 : bytes.length);
    if (!isLive && next >= end) resolve();
  };
  if (!isLive && first >= end) resolve();
  else await client.subscribe({ session_id, from: first, passive: true }, takeFrame);
  await promise;
  await follower.flush();
}
