// Rebuilds the result of a command after its reply was lost with the connection. The daemon keeps its output.
import { TrlError } from "../protocol/errors.ts";
import { omissionMarker, type RunResult } from "../protocol/exec.ts";
import { toBase64 } from "../util/base64.ts";
import type { StreamName } from "./chunk-queue.ts";
import type { KnownExit } from "./command-exit.ts";
import { CommandStream } from "./command-stream.ts";
import { isTrlError } from "./errors.ts";
import type { Host } from "./host.ts";
import { wireSpelt } from "./naming.ts";

export interface LostRun {
  sessionId: string;
  commandId: string;
  asBytes: boolean;
  check: boolean;
}

export async function recoverRun(host: Host, lost: LostRun): Promise<RunResult> {
  const stream = new CommandStream<Uint8Array>(host, {
    id: lost.commandId,
    start: {}, // the request that got no reply
    attach: {},
    asBytes: true,
    signal: undefined,
    isSent: true,
  });
  const pieces: Record<StreamName, Uint8Array[]> = { stdout: [], stderr: [] };
  let isTruncated = false;
  for await (const { type, data, missing } of stream) {
    if (missing > 0) pieces[type].push(new TextEncoder().encode(omissionMarker(missing)));
    isTruncated ||= missing > 0;
    pieces[type].push(data);
  }
  const exit = await stream.exited;
  const working_dir = await directoryAfter(host, lost);
  const result: RunResult = {
    stdout: rendered(pieces.stdout, lost.asBytes),
    stderr: rendered(pieces.stderr, lost.asBytes),
    ...wireSpelt<KnownExit>(exit),
    truncated: isTruncated,
    command_id: lost.commandId,
    working_dir,
  };
  if (result.timed_out) throw new TrlError("COMMAND_TIMEOUT", "the command reached its time limit", result);
  if (lost.check && result.exit_code !== 0) {
    throw new TrlError("COMMAND_FAILED", `the command ended with exit code ${result.exit_code}`, result);
  }
  return result;
}

/** session.info is cheap; exec.wait also works after the session was destroyed, but sends all the output again. */
async function directoryAfter(host: Host, { sessionId, commandId }: LostRun): Promise<string> {
  try {
    return (await host.call("session.info", { session_id: sessionId })).working_dir;
  } catch (error) {
    if (!isTrlError(error, "SESSION_NOT_FOUND")) throw error;
  }
  try {
    return (await host.call("exec.wait", { stream_id: commandId })).working_dir;
  } catch (error) {
    if (isTrlError(error, "COMMAND_TIMEOUT")) return (error.data as RunResult).working_dir;
    throw error;
  }
}

function rendered(pieces: Uint8Array[], asBytes: boolean): string {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  if (!asBytes)
    return pieces.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode();
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return toBase64(all);
}
