// A program is tried before anything is handed to it: it is asked who it is, and whether it would understand what it gets
// with the flags that it gets. That is a child, which may fail as it likes.
import { accessSync, constants, statSync } from "node:fs";
import * as v from "valibot";
import { TrlError } from "../../protocol/errors.ts";
import type { Handover } from "../../protocol/handover/document.ts";
import { version } from "../../util/version.ts";
import { type Letter, letterVariable } from "./letter.ts";
import { checkDocument } from "./parcel.ts";

const patienceMs = 10_000;
const Answer = v.object({ understands: v.literal(true), version: v.string() });

/** Its version; throws a TrlError that says why it will not do. */
export async function tryProgram(path: string, words: string[], document: Handover): Promise<string> {
  const hello = await ask(path, ["--version"], "");
  if (!/^trl \S+\n$/.test(hello)) throw unfit(path, "it does not say that it is trl");
  const answer = await ask(path, words, JSON.stringify(document));
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

async function ask(path: string, words: string[], input: string): Promise<string> {
  const letter: Letter = { kind: "trial" };
  let child: Bun.Subprocess<"pipe", "pipe", "pipe">;
  try {
    child = Bun.spawn([path, ...words], {
      env: { ...process.env, [letterVariable]: JSON.stringify(letter) },
      stdio: ["pipe", "pipe", "pipe"],
      timeout: patienceMs,
      killSignal: "SIGKILL",
    });
    // Not as a buffer: Bun would put that into a file in memory that stays open across our exec.
    child.stdin.write(input);
    void Promise.resolve(child.stdin.end()).catch(() => {}); // it need not read it
  } catch (error) {
    throw unfit(path, (error as Error).message);
  }
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const code = await child.exited;
  if (code === 0) return out;
  const how = child.signalCode ? `by ${child.signalCode}` : `with ${code}`;
  throw unfit(path, `it ended ${how}${err.trim() ? `: ${err.trim().split("\n")[0]!.slice(0, 300)}` : ""}`);
}

const unfit = (path: string, why: string) =>
  new TrlError("UNSUPPORTED", `${path} cannot take this daemon's place: ${why}`);

/** The other side: with the same flags it has come this far, and the document is on standard input. */
export async function answerTrial(): Promise<void> {
  checkDocument(await Bun.stdin.text());
  process.stdout.write(`${JSON.stringify({ understands: true, version })}\n`);
}
