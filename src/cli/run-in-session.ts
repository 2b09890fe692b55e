// A command in a session, passed through live: output, input, signals, exit code.
import { resolve } from "node:path";
import type { StreamFrame, TrlClient } from "../client/client.ts";
import { errorCodes } from "../protocol/errors.ts";
import type { ExitFrame } from "../protocol/exec.ts";
import { forwardStdin } from "./forward-stdin.ts";
import { writeFully } from "./write-fully.ts";

export interface Wanted {
  command: string;
  session: string | undefined;
  cwd: string | undefined;
  timeoutS: number;
  passesStdin: boolean;
}

/** Runs it in the named session, or in one that lasts as long as the command. */
export async function runInSession(client: TrlClient, wanted: Wanted): Promise<number> {
  const found = wanted.session === undefined ? undefined : await findSession(client, wanted.session);
  const sessionId = found ?? (await createSession(client, wanted));
  try {
    const isElsewhere = found !== undefined && wanted.cwd !== undefined;
    const exit = await follow(client, {
      session_id: sessionId,
      command: wanted.command,
      timeout_s: wanted.timeoutS,
      encoding: "base64",
      open_stdin: wanted.passesStdin,
      ...(isElsewhere ? { working_dir: resolve(wanted.cwd!) } : {}),
    });
    return exitCodeOf(exit);
  } finally {
    if (wanted.session === undefined) {
      await client.call("session.destroy", { session_id: sessionId, force: true }).catch(() => {});
    }
  }
}

async function follow(client: TrlClient, params: Parameters<TrlClient["stream"]>[0]): Promise<ExitFrame> {
  const { promise, resolve: end, reject } = Promise.withResolvers<ExitFrame>();
  client.onClose = reject;
  let streamId: string | undefined;
  let isWanted = true;
  const cancel = (signal?: string) => {
    isWanted = false;
    if (streamId === undefined) return; // as soon as there is something to cancel
    client.call("exec.cancel", { stream_id: streamId, ...(signal ? { signal } : {}) }).catch(() => {});
  };
  const stopListening = onSignals(cancel);
  streamId = await client.stream(params, (frame) => {
    if (frame.type === "exit") end(frame as unknown as ExitFrame);
    else if (!passOn(frame)) cancel(); // nobody reads what we write
  });
  if (!isWanted) cancel();
  if (params.open_stdin) void forwardStdin(client, streamId);
  try {
    return await promise;
  } finally {
    stopListening();
  }
}

/** stdout is the command's stdout and nothing else. False where nobody takes it any more. */
function passOn({ type, data }: StreamFrame): boolean {
  if (type !== "stdout" && type !== "stderr") return true;
  return writeFully(type === "stdout" ? 1 : 2, Buffer.from(data!, "base64"));
}

function exitCodeOf(exit: ExitFrame): number {
  if (exit.reason !== "timeout") return exit.exit_code;
  const seconds = (exit.duration_ms / 1000).toFixed(1);
  process.stderr.write(`trl: the command was stopped after ${seconds} s (COMMAND_TIMEOUT)\n`);
  return errorCodes.COMMAND_TIMEOUT.exit;
}

async function findSession(client: TrlClient, nameOrId: string): Promise<string | undefined> {
  const { sessions } = await client.call("session.list", {});
  const matches = sessions.filter(({ name, session_id }) => name === nameOrId || session_id === nameOrId);
  return matches.at(-1)?.session_id;
}

/** A new session is like the caller's own shell: same directory, same environment. */
async function createSession(client: TrlClient, { session, cwd }: Wanted): Promise<string> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith("TRL_")));
  const created = await client.call("session.create", {
    ...(session === undefined ? {} : { name: session }),
    working_dir: resolve(cwd ?? process.cwd()),
    env: env as Record<string, string>,
    inherit_env: "none",
  });
  return created.session_id;
}

/** ^C goes to the command as ^C; a second one, or SIGTERM, stops it for certain. */
function onSignals(cancel: (signal?: string) => void): () => void {
  let interrupts = 0;
  const onInterrupt = () => cancel(interrupts++ === 0 ? "SIGINT" : undefined);
  const onTerminate = () => cancel();
  process.on("SIGINT", onInterrupt);
  process.on("SIGTERM", onTerminate);
  return () => {
    process.off("SIGINT", onInterrupt);
    process.off("SIGTERM", onTerminate);
  };
}
