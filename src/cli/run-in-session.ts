// Runs a command in a session and forwards output, input, signals and exit code.
import { resolve } from "node:path";
import { lostError } from "../client/errors.ts";
import { TrlError } from "../protocol/errors.ts";
import type { ExitFrame } from "../protocol/exec.ts";
import type { Params } from "../protocol/methods.ts";
import type { DaemonClient, StreamFrame } from "./client.ts";
import { callersEnvironment } from "./environment.ts";
import { CliError, lostDaemon, reportError, unavailableExitCode } from "./errors.ts";
import type { Interrupts } from "./interrupts.ts";
import { isReaderClosed, OutputWriter } from "./output-writer.ts";
import { runForJson } from "./run-for-json.ts";
import type { RuntimeChoice } from "./runtime-args.ts";
import { findEntry, isLive, listAll, reasonOf } from "./sessions.ts";
import { note } from "./ui/print.ts";
import { writeInput } from "./write-input.ts";

export interface Wanted {
  command: string;
  session: string | undefined;
  cwd: string | undefined;
  runtime: RuntimeChoice;
  timeoutS: number;
  passesStdin: boolean;
  isJson: boolean;
}

/** Runs in the named session, or in a new one that is destroyed afterwards. */
export async function runInSession(
  client: DaemonClient,
  wanted: Wanted,
  interrupts: Interrupts,
): Promise<number> {
  const found =
    wanted.session === undefined ? undefined : await findSession(client, wanted.session, wanted.runtime);
  const sessionId = found ?? (await createSession(client, wanted));
  try {
    const changesDirectory = found !== undefined && wanted.cwd !== undefined;
    const common = {
      session_id: sessionId,
      command: wanted.command,
      timeout_s: wanted.timeoutS,
      ...(changesDirectory ? { working_dir: directoryOf(wanted) } : {}),
    };
    if (interrupts.last) return interruptedExitCode;
    if (wanted.isJson) return await runForJson(client, common, { interrupts, ...wanted });
    const params = {
      ...common,
      encoding: "base64" as const,
      open_stdin: wanted.passesStdin,
      stall_timeout_s: 0, // no limit: a slow reader slows the command by backpressure, as in a pipeline
    };
    return exitCodeOf(await follow(client, params, interrupts));
  } finally {
    if (wanted.session === undefined) {
      await client.call("session.destroy", { session_id: sessionId, force: true }).catch(() => {});
    }
  }
}

/** 128 + SIGINT. */
const interruptedExitCode = 130;

async function follow(
  client: DaemonClient,
  params: Parameters<DaemonClient["stream"]>[0],
  interrupts: Interrupts,
): Promise<ExitFrame> {
  const { promise, resolve: end, reject } = Promise.withResolvers<ExitFrame>();
  const lost = () => reject(lostDaemon());
  const at = { stdout: 0, stderr: 0 };
  let streamId: string | undefined;
  const cancel = (signal: { signal?: string } = {}) => {
    if (streamId !== undefined)
      client.call("exec.cancel", { stream_id: streamId, ...signal }).catch(() => {});
  };
  let failure: Error | undefined;
  const writer = new OutputWriter(client, (error) => {
    if (!isReaderClosed(error)) failure = error;
    cancel();
  });
  const interrupt = (isGentle: boolean) => cancel(isGentle ? { signal: "SIGINT" } : {});
  interrupts.listen(interrupt); // until `interrupts` is disposed: it also covers session.destroy
  const take = ({ type, data, ...frame }: StreamFrame) => {
    if (type === "stdout" || type === "stderr") {
      const bytes = Buffer.from(data!, "base64");
      at[type] = Number(frame["offset"]) + bytes.length;
      writer.write(type === "stdout" ? 1 : 2, bytes);
    } else if (type === "gap")
      note(`${Number(frame["to"]) - Number(frame["from"])} bytes of output are lost`);
    else if (type === "exit") end({ type, ...frame } as unknown as ExitFrame);
  };
  client.onClose.add(lost);
  streamId = await client.stream(params, take);
  client.onClose.delete(lost);
  client.onClose.add(() => void resume(client, params, { streamId: streamId!, at, take }).catch(lost));
  if (interrupts.last) interrupt(interrupts.last.isGentle); // received while the command started
  let isInputCut = false;
  if (params.open_stdin) void forwardStdin(client, streamId).catch(() => (isInputCut = true));
  const exit = await promise;
  await writer.flush();
  if (isInputCut) note("the connection was lost while input was on its way: the rest was not passed on");
  if (failure) throw failure;
  return exit;
}

/** Ends at EOF or when the command stops reading. Rejects if the connection is lost. */
async function forwardStdin(client: DaemonClient, streamId: string): Promise<void> {
  const write = (data: string) =>
    client.call("exec.write", { stream_id: streamId, data, encoding: "base64" });
  try {
    for await (const chunk of Bun.stdin.stream()) await writeInput(chunk, write);
    await client.call("exec.write", { stream_id: streamId, eof: true });
  } catch (error) {
    if (!(error instanceof TrlError)) throw error;
    // the command has ended or closed its input
  }
}

interface Resumption {
  streamId: string;
  /** Received bytes of each stream. */
  at: { stdout: number; stderr: number };
  take(frame: StreamFrame): void;
}

/** Reconnects after an upgrade of the daemon, which keeps the command running, and attaches at the received offsets. */
async function resume(
  client: DaemonClient,
  { encoding, stall_timeout_s }: Params<"exec.stream">,
  { streamId, at, take }: Resumption,
): Promise<void> {
  await client.reopen();
  const from = { stdout_offset: at.stdout, stderr_offset: at.stderr };
  await client.attach({ stream_id: streamId, ...from, encoding, stall_timeout_s }, take);
}

function exitCodeOf(exit: ExitFrame): number {
  if (exit.error) throw lostError(exit.error);
  for (const limit of exit.receipt?.limits_hit ?? []) note(`the command met its session's limit: ${limit}`);
  if (exit.reason !== "timeout") return exit.exit_code;
  const seconds = (exit.duration_ms / 1000).toFixed(1);
  return reportError(new TrlError("COMMAND_TIMEOUT", `the command was stopped after ${seconds} s`));
}

/** A word in the form of an id must exist; any other word may become the name of a new session. */
async function findSession(
  client: DaemonClient,
  word: string,
  { params }: RuntimeChoice,
): Promise<string | undefined> {
  const { entries, unavailable } = await listAll(client, params.runtime);
  const live = entries.filter(isLive);
  if (/^s-[0-9a-f]+$/.test(word)) return findEntry({ entries: live, unavailable }, word).session_id;
  const exact = live.filter(({ name, session_id }) => name === word || session_id === word);
  if (exact.length > 0) return findEntry({ entries: exact, unavailable }, word).session_id;
  const [missing] = params.runtime === undefined ? unavailable : []; // session.create reports the error of a named runtime
  if (!missing) return undefined;
  throw new CliError(
    `${word} may be a session that cannot be reached: ${reasonOf(missing)}`,
    unavailableExitCode,
    `a new one on this machine: trl run --session ${word} --runtime host -- CMD`,
  );
}

/** Paths for another runtime are not resolved against the local directory. */
const directoryOf = ({ cwd, runtime }: Wanted): string =>
  runtime.isRemote && cwd !== undefined ? cwd : resolve(cwd ?? process.cwd());

/** A new local session has the caller's directory and environment. */
async function createSession(client: DaemonClient, wanted: Wanted): Promise<string> {
  const { session, cwd, runtime } = wanted;
  const isLocal = !runtime.isRemote;
  const created = await client.call("session.create", {
    ...runtime.params,
    ...(session === undefined ? {} : { name: session }),
    ...(isLocal || cwd !== undefined ? { working_dir: directoryOf(wanted) } : {}),
    ...(isLocal ? { env: callersEnvironment(), inherit_env: "none" as const } : {}),
  });
  return created.session_id;
}
