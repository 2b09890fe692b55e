// Checks a new executable before the upgrade: that it is trl, and that it can read the state of this daemon with this
// daemon's flags. Each check is a child process with a timeout and an output limit, so a broken executable does no harm.
import { accessSync, constants, statSync } from "node:fs";
import * as v from "valibot";
import type { ProcessOwnership } from "../core/process/ownership.ts";
import { TrlError } from "../protocol/errors.ts";
import { version } from "../util/version.ts";
import { type BootstrapEnvironment, bootstrapVariable } from "./bootstrap-environment.ts";
import { parseDocument } from "./restore/read-state-file.ts";
import type { StateDocument } from "./schema/document.ts";
import { additions, describeBeyond, ownSchemaVersion } from "./schema/versions.ts";

const timeoutMs = 10_000;
const outputMaxBytes = 64 * 1024;
/** For the rest of the output after the child's end. A process that has left its group may hold the pipe open. */
const afterExitMs = 500;
/** The reply of an executable that can read the document. The first programs with schema version 1 reply without it. */
const TrialReply = v.object({
  understands: v.literal(true),
  version: v.string(),
  schemaVersion: v.optional(v.number(), 1),
});

export interface CheckedExecutable {
  path: string;
  version: string;
  /** The latest schema version of the state document that it reads. */
  schemaVersion: number;
}

interface Candidate {
  path: string;
  /** The flags of this daemon. */
  words: string[];
  /** The environment of this daemon. */
  env: Record<string, string | undefined>;
}

/** Throws a TrlError with the reason if the executable cannot take over. */
export async function checkExecutable(
  { path, words, env }: Candidate,
  document: StateDocument,
  ownership: Pick<ProcessOwnership, "addRoot" | "removeRoot">,
  table = additions,
): Promise<CheckedExecutable> {
  const greeting = await runTrial(ownership, [path, "--version"], env, "");
  if (!/^trl \S+\n$/.test(greeting)) throw unfit(path, "it does not say that it is trl");
  let reply: string;
  try {
    reply = await runTrial(ownership, [path, ...words], env, JSON.stringify(document));
  } catch (error) {
    // An older executable refuses a later schema version, but cannot know what the state needs that version for.
    const needs = describeBeyond(1, document, table);
    throw needs ? new TrlError("UNSUPPORTED", `${(error as Error).message}; ${needs}`) : error;
  }
  try {
    return { path, ...v.parse(TrialReply, JSON.parse(reply)) };
  } catch {
    throw unfit(path, "it does not know how to take over a daemon");
  }
}

/** The state may have changed since the check: throws if it now uses something that the executable cannot express. */
export function requireExpressible(
  document: StateDocument,
  { path, version, schemaVersion }: CheckedExecutable,
  table = additions,
): void {
  const needs = describeBeyond(schemaVersion, document, table);
  if (needs) throw unfit(path, `trl ${version} reads schema versions up to ${schemaVersion}; ${needs}`);
}

export function requireProgram(path: string): void {
  try {
    accessSync(path, constants.X_OK);
    if (statSync(path).isFile()) return;
  } catch {
    // reported below
  }
  throw new TrlError("INVALID_PARAMS", `executable: ${path} is no program that can be started`);
}

async function runTrial(
  ownership: Pick<ProcessOwnership, "addRoot" | "removeRoot">,
  command: [string, ...string[]],
  env: Candidate["env"],
  input: string,
): Promise<string> {
  const [path] = command;
  const environment: BootstrapEnvironment = { kind: "trial" };
  let child: Bun.Subprocess<"pipe", "pipe", "pipe">;
  try {
    child = Bun.spawn(command, {
      env: { ...env, [bootstrapVariable]: JSON.stringify(environment) },
      stdio: ["pipe", "pipe", "pipe"],
      detached: true, // a process group of its own, which is killed with it
    });
  } catch (error) {
    throw unfit(path, (error as Error).message);
  }
  ownership.addRoot(child.pid, { sessionId: "trial" }); // otherwise its exit is reaped as that of an orphan
  const limit = Promise.withResolvers<string>();
  const timer = setTimeout(() => limit.resolve(`it has not ended after ${timeoutMs / 1000} s`), timeoutMs);
  try {
    writeInput(child.stdin, input);
    const { out, err, code } = await outputOf(child, ownership, limit);
    if (code === 0) return out;
    const how = child.signalCode ? `by ${child.signalCode}` : `with ${code}`;
    throw unfit(path, `it ended ${how}${err.trim() ? `: ${err.trim().split("\n")[0]!.slice(0, 300)}` : ""}`);
  } catch (error) {
    throw error instanceof TrlError ? error : unfit(path, (error as Error).message);
  } finally {
    clearTimeout(timer);
    endGroup(child.pid);
  }
}

/**
 * Not a Buffer for `stdin`: Bun would pass that as a memory file, which stays open across our exec. Errors (EPIPE) are
 * ignored: a child may end without reading its input, and is judged by its exit code.
 */
function writeInput(stdin: Bun.FileSink, input: string): void {
  const ignoreFailure = (written: number | Promise<number>) => void Promise.resolve(written).catch(() => {});
  try {
    ignoreFailure(stdin.write(input));
    ignoreFailure(stdin.end() as number | Promise<number>);
  } catch {
    // the pipe is closed already
  }
}

/** What the child prints until it ends. A leftover process that holds the pipes open is not waited for. */
async function outputOf(
  child: Bun.Subprocess<"pipe", "pipe", "pipe">,
  ownership: Pick<ProcessOwnership, "removeRoot">,
  limit: PromiseWithResolvers<string>,
): Promise<{ out: string; err: string; code: number }> {
  const ended = child.exited.then(async () => {
    endGroup(child.pid);
    await ownership.removeRoot(child.pid);
    await Bun.sleep(afterExitMs);
  });
  const isOver = Promise.race([limit.promise, ended]);
  const onTooMuch = () => limit.resolve(`it prints more than ${outputMaxBytes / 1024} KiB`);
  const reading = [child.stdout, child.stderr].map((stream) => read(stream, isOver, onTooMuch));
  const [out, err] = (await Promise.all(reading)) as [string, string];
  const code = await Promise.race([limit.promise, child.exited]);
  if (typeof code === "string") throw new Error(code);
  return { out, err, code };
}

async function read(
  stream: ReadableStream<Uint8Array>,
  isOver: Promise<unknown>,
  onTooMuch: () => void,
): Promise<string> {
  const reader = stream.getReader();
  const pieces: Uint8Array[] = [];
  for (let bytes = 0; ; ) {
    const piece = await Promise.race([reader.read(), isOver.then(() => undefined)]);
    if (!piece || piece.done) break;
    pieces.push(piece.value);
    bytes += piece.value.length;
    if (bytes <= outputMaxBytes) continue;
    onTooMuch();
    break;
  }
  void reader.cancel().catch(() => {});
  return Buffer.concat(pieces).toString();
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // the group is empty
  }
}

const unfit = (path: string, why: string) =>
  new TrlError("UNSUPPORTED", `${path} cannot take over this daemon: ${why}`);

/** In the checked executable, after it has accepted the flags: the document is on standard input. */
export async function answerTrial(): Promise<void> {
  parseDocument(await Bun.stdin.text());
  const reply: v.InferInput<typeof TrialReply> = {
    understands: true,
    version,
    schemaVersion: ownSchemaVersion(),
  };
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
