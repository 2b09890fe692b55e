// A program is tried before anything is handed to it: it is asked who it is, and whether it would understand what it gets
// with the flags that it gets. That is a child, which may fail as it likes.
import { accessSync, constants, statSync } from "node:fs";
import * as v from "valibot";
import type { ProcessOwnership } from "../core/process/ownership.ts";
import { TrlError } from "../protocol/errors.ts";
import { version } from "../util/version.ts";
import { type BootstrapEnvironment, bootstrapVariable } from "./bootstrap-environment.ts";
import type { Handover } from "./schema/document.ts";
import { checkDocument } from "./serialize/state-file.ts";

const patienceMs = 10_000;
const outputMaxBytes = 64 * 1024;
/** For an end of its output that does not come, as whoever holds it has left the group. */
const afterwardsMs = 500;
const Answer = v.object({ understands: v.literal(true), version: v.string() });

/** Its version; throws a TrlError that says why it will not do. */
export async function tryProgram(
  { path, words }: { path: string; words: string[] },
  document: Handover,
  ownership: ProcessOwnership,
): Promise<string> {
  const hello = await ask(ownership, [path, "--version"], "");
  if (!/^trl \S+\n$/.test(hello)) throw unfit(path, "it does not say that it is trl");
  const answer = await ask(ownership, [path, ...words], JSON.stringify(document));
  try {
    return v.parse(Answer, JSON.parse(answer)).version;
  } catch {
    throw unfit(path, "it does not know how to take a daemon's place");
  }
}

export function requireProgram(path: string): void {
  try {
    accessSync(path, constants.X_OK);
    if (statSync(path).isFile()) return;
  } catch {
    // told below
  }
  throw new TrlError("INVALID_PARAMS", `executable: ${path} is no program that can be started`);
}

async function ask(
  ownership: ProcessOwnership,
  command: [string, ...string[]],
  input: string,
): Promise<string> {
  const [path] = command;
  const letter: BootstrapEnvironment = { kind: "trial" };
  let child: Bun.Subprocess<"pipe", "pipe", "pipe">;
  try {
    child = Bun.spawn(command, {
      env: { ...process.env, [bootstrapVariable]: JSON.stringify(letter) },
      stdio: ["pipe", "pipe", "pipe"],
      detached: true, // a group of its own, which is ended with it
    });
  } catch (error) {
    throw unfit(path, (error as Error).message);
  }
  ownership.addRoot(child.pid, { sessionId: "trial" }); // else its end would be taken for that of an orphan
  const limit = Promise.withResolvers<string>();
  const timer = setTimeout(() => limit.resolve(`it has not ended after ${patienceMs / 1000} s`), patienceMs);
  try {
    // Not as a buffer: Bun would put that into a file in memory that stays open across our exec.
    child.stdin.write(input);
    void Promise.resolve(child.stdin.end()).catch(() => {}); // it need not read it
    const { out, err, code } = await hear(child, ownership, limit);
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

/** What it prints until its end; what it has left behind may hold its output open, and is not waited for. */
async function hear(
  child: Bun.Subprocess<"pipe", "pipe", "pipe">,
  ownership: ProcessOwnership,
  limit: PromiseWithResolvers<string>,
): Promise<{ out: string; err: string; code: number }> {
  const ended = child.exited.then(async () => {
    endGroup(child.pid);
    await ownership.removeRoot(child.pid);
    await Bun.sleep(afterwardsMs); // what it printed last is read by then
  });
  const over = Promise.race([limit.promise, ended]);
  const isTooMuch = () => limit.resolve(`it prints more than ${outputMaxBytes / 1024} KiB`);
  const reading = [child.stdout, child.stderr].map((stream) => read(stream, over, isTooMuch));
  const [out, err] = (await Promise.all(reading)) as [string, string];
  const code = await Promise.race([limit.promise, child.exited]);
  if (typeof code === "string") throw new Error(code);
  return { out, err, code };
}

async function read(
  stream: ReadableStream<Uint8Array>,
  over: Promise<unknown>,
  isTooMuch: () => void,
): Promise<string> {
  const reader = stream.getReader();
  const pieces: Uint8Array[] = [];
  for (let bytes = 0; ; ) {
    const piece = await Promise.race([reader.read(), over.then(() => undefined)]);
    if (!piece || piece.done) break;
    pieces.push(piece.value);
    bytes += piece.value.length;
    if (bytes <= outputMaxBytes) continue;
    isTooMuch();
    break;
  }
  void reader.cancel().catch(() => {});
  return Buffer.concat(pieces).toString();
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // nobody is left
  }
}

const unfit = (path: string, why: string) =>
  new TrlError("UNSUPPORTED", `${path} cannot take this daemon's place: ${why}`);

/** The other side: with the same flags it has come this far, and the document is on standard input. */
export async function answerTrial(): Promise<void> {
  checkDocument(await Bun.stdin.text());
  process.stdout.write(`${JSON.stringify({ understands: true, version })}\n`);
}
