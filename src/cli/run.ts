import { resolve } from "node:path";
import { type ArgsDef, defineCommand } from "citty";
import type { TrlClient } from "../client/client.ts";
import { TrlError } from "../protocol/errors.ts";
import type { RunResult } from "../protocol/exec.ts";
import { checkFlags } from "./check-flags.ts";
import { socketArgs, socketPathFrom, tryConnect } from "./connection.ts";
import { CliError, usageExitCode } from "./errors.ts";
import { startPrivateDaemon } from "./private-daemon.ts";

const args = {
  ...socketArgs,
  session: {
    type: "string",
    valueHint: "NAME",
    description: "Session to run in; made if there is none (a new one)",
  },
  cwd: {
    type: "string",
    valueHint: "DIR",
    description: "Directory to run in (the session's, else this one)",
  },
  timeout: {
    type: "string",
    valueHint: "S",
    description: "Seconds until the command is stopped; 0 = never (0)",
  },
} as const satisfies ArgsDef;

export default defineCommand({
  meta: { name: "run", description: "Run a command and pass on its output and exit code" },
  args,
  async run({ args: given, rawArgs }) {
    checkFlags(rawArgs, args);
    const command = commandFrom(rawArgs, given._);
    const timeoutS = secondsFrom(given.timeout);
    using existing = await tryConnect(socketPathFrom(given["socket-path"]));
    await using own = existing ? undefined : await startPrivateDaemon();
    const client = existing ?? own!.client;
    const result = await runIn(client, given.session, { command, timeoutS, cwd: given.cwd });
    process.exitCode = result.exit_code;
  },
});

/** Enough for what a person reads. */
const outputMaxBytes = 64 * 1024 * 1024;

interface Wanted {
  command: string;
  timeoutS: number;
  cwd: string | undefined;
}

/** Runs it in the named session, or in one that lasts as long as the command. */
async function runIn(client: TrlClient, session: string | undefined, wanted: Wanted): Promise<RunResult> {
  const found = session === undefined ? undefined : await findSession(client, session);
  const sessionId = found ?? (await createSession(client, session, wanted.cwd ?? process.cwd()));
  const isOurs = session === undefined;
  const end = () => client.call("session.destroy", { session_id: sessionId, force: true });
  const stopListening = isOurs ? onInterrupt(end) : () => {};
  try {
    const result = await call(client, sessionId, found ? wanted : { ...wanted, cwd: undefined });
    pass(result);
    return result;
  } finally {
    stopListening();
    if (isOurs) await end().catch(() => {});
  }
}

async function call(
  client: TrlClient,
  sessionId: string,
  { command, timeoutS, cwd }: Wanted,
): Promise<RunResult> {
  try {
    return await client.call("exec.run", {
      session_id: sessionId,
      command,
      timeout_s: timeoutS,
      max_output_bytes: outputMaxBytes,
      encoding: "base64",
      ...(cwd ? { working_dir: resolve(cwd) } : {}),
    });
  } catch (error) {
    if (error instanceof TrlError && error.code === "COMMAND_TIMEOUT") pass(error.data as RunResult);
    throw error;
  }
}

async function findSession(client: TrlClient, nameOrId: string): Promise<string | undefined> {
  const { sessions } = await client.call("session.list", {});
  const matches = sessions.filter(({ name, session_id }) => name === nameOrId || session_id === nameOrId);
  return matches.at(-1)?.session_id;
}

/** A new session is like the caller's own shell: same directory, same environment. */
async function createSession(client: TrlClient, name: string | undefined, cwd: string): Promise<string> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith("TRL_")));
  const created = await client.call("session.create", {
    ...(name === undefined ? {} : { name }),
    working_dir: resolve(cwd),
    env: env as Record<string, string>,
    inherit_env: "none",
  });
  return created.session_id;
}

/** stdout is the command's stdout and nothing else. */
function pass(result: RunResult): void {
  process.stdout.write(Buffer.from(result.stdout, "base64"));
  process.stderr.write(Buffer.from(result.stderr, "base64"));
}

function onInterrupt(end: () => Promise<unknown>): () => void {
  const handle = () => void end().catch(() => {});
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, handle);
  return () => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, handle);
  };
}

/** One word is a line for the shell; several are a program and its arguments, taken literally. */
function commandFrom(rawArgs: string[], positional: string[]): string {
  const separator = rawArgs.indexOf("--");
  const words = separator === -1 ? positional : rawArgs.slice(separator + 1);
  if (words.length === 0)
    throw new CliError("no command given", usageExitCode, "for example: trl run -- ls -l");
  return words.length === 1 ? words[0]! : words.map(quoteWord).join(" ");
}

const quoteWord = (word: string) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

function secondsFrom(text: string | undefined): number {
  const seconds = Number(text ?? 0);
  if (Number.isNaN(seconds) || seconds < 0) {
    throw new CliError(`--timeout needs a number of seconds, not "${text}"`, usageExitCode);
  }
  return seconds;
}
