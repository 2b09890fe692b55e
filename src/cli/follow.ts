// The frames of a command or a terminal that somebody else started, from an offset up to now or to the end. All that
// `trl logs` needs of the connection beyond plain calls is here.

import type { Encoding, ExitFrame, StreamSummary } from "../protocol/exec.ts";
import type { DaemonClient, StreamFrame, TerminalFrame } from "./client.ts";
import { lostDaemon } from "./errors.ts";
import type { TerminalEntry } from "./sessions.ts";

export type StreamName = "stdout" | "stderr";

export interface Follower {
  output(stream: StreamName, bytes: Buffer): void;
  /** Bytes that are gone. */
  gap(stream: StreamName, from: number, to: number): void;
  /** Each frame as it came, for those who want just that. */
  frame(frame: object): void;
  /** All output so far has been taken by whoever reads us. */
  taken(): Promise<void>;
}

export interface FollowSpec {
  /** Of a command; a terminal has one output. */
  streams: StreamName[];
  /** The first byte that is wanted. */
  from: number;
  /** Until the end, not only up to now. */
  isLive: boolean;
  /** Of a command's output in its frames; a terminal's is always base64. */
  encoding: Encoding;
}

interface OutputFrame {
  type: StreamName;
  data: string;
  offset: number;
  /** Where the text stands for bytes that are none. */
  bytes?: number;
}

/** Who only looks on must not hold the command up: then we are let go, and come back when we can. */
const stallTimeoutS = 1;

/** Resolves when all is told: at the command's end, or where it is now. */
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
    await follower.taken();
  }
}

interface Attached extends FollowSpec {
  /** Moves on with what comes. */
  at: Record<StreamName, number>;
  follower: Follower;
}

/** False where we were too slow, and there is more. */
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
  // Of one that has ended, its end is told as well.
  if (reply.state === "running") end = { stdout: reply.stdout_bytes, stderr: reply.stderr_bytes };
  checkEnd();
  return await promise;
}

/** A gap shows in the offsets, also one that lies before the first frame or behind the last. */
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

/** The same for a terminal, whose output is one stream. */
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
  await follower.taken();
}
