// trl screen: prints the screen of a terminal, optionally after waiting for a condition.
import { type ArgsDef, defineCommand } from "citty";
import type { Snapshot, Until, WaitOutcome } from "../../protocol/pty.ts";
import { checkFlags } from "../check-flags.ts";
import type { DaemonClient } from "../client.ts";
import { connect, socketArgs, socketPathFrom } from "../connection.ts";
import { CliError, errorExitCode, usageExitCode } from "../errors.ts";
import { countFrom, secondsFrom } from "../numbers.ts";
import { findTerminal } from "../sessions.ts";
import { oneName } from "../targets.ts";
import { jsonArgs, print, printJson } from "../ui/print.ts";
import { withProgress } from "../ui/progress.ts";

const args = {
  ...socketArgs,
  ansi: { type: "boolean", description: "With its colours" },
  scrollback: { type: "string", valueHint: "N", description: "Also so many lines above the screen (0)" },
  wait: { type: "string", valueHint: "TEXT", description: "Wait until it shows this text" },
  regex: { type: "string", valueHint: "RE", description: "Wait until it shows what matches this" },
  idle: {
    type: "string",
    valueHint: "S",
    description: "Wait until it has printed nothing for so many seconds",
  },
  exit: { type: "boolean", description: "Wait until its program has ended" },
  timeout: { type: "string", valueHint: "S", description: "Seconds to wait at most; 0 = for ever (60)" },
  ...jsonArgs,
} as const satisfies ArgsDef;

export default defineCommand({
  meta: { name: "screen", description: "Print what a terminal shows, at once or when it shows something" },
  args,
  async run({ args: given, rawArgs }) {
    checkFlags(rawArgs, args);
    const word = oneName(given._, "trl screen work");
    const scrollback = countFrom("--scrollback", given.scrollback ?? "0");
    const until = untilFrom(given);
    const timeoutS = secondsFrom("--timeout", given.timeout ?? String(defaultTimeoutS));
    using client = await connect(socketPathFrom(given));
    const { session_id } = await findTerminal(client, word);
    const matched = until && (await wait(client, { session_id, until, timeout_s: timeoutS }, word));
    const format = given.ansi ? "styled" : "text";
    const screen = await client.call("pty.snapshot", { session_id, format, scrollback });
    if (given.json) printJson(matched === undefined ? screen : { ...screen, matched });
    else if (screen.lost) throw lostScreen(word);
    else print(textOf(screen));
    if (until && matched) report(until, matched, word, timeoutS);
  },
});

const defaultTimeoutS = 60;

const lostScreen = (word: string) =>
  new CliError(
    `the screen of ${word} went with a daemon that was killed`,
    errorExitCode("RUNTIME_UNAVAILABLE"),
    "trl ps --all says how it ended, as far as that is known",
  );

/** Drops empty rows at the end. */
function textOf({ lines = [] }: Snapshot): string {
  const last = lines.findLastIndex((line) => line.trim() !== "");
  return lines
    .slice(0, last + 1)
    .map((line) => `${line}\n`)
    .join("");
}

interface WaitFlags {
  wait?: string | undefined;
  regex?: string | undefined;
  idle?: string | undefined;
  exit?: boolean | undefined;
}

function untilFrom({ wait: text, regex, idle, exit }: WaitFlags): Until | undefined {
  if (text === "" || regex === "")
    throw new CliError(`${text === "" ? "--wait" : "--regex"} needs something to wait for`, usageExitCode);
  const until: Until = {
    ...(text === undefined ? {} : { text }),
    ...(regex === undefined ? {} : { regex }),
    ...(idle === undefined ? {} : { idle_ms: secondsFrom("--idle", idle) * 1000 }),
    ...(exit ? { exit } : {}),
  };
  return Object.keys(until).length > 0 ? until : undefined;
}

async function wait(
  client: DaemonClient,
  params: { session_id: string; until: Until; timeout_s: number },
  word: string,
): Promise<WaitOutcome> {
  const waiting = client.call("pty.wait", params);
  const { matched } = await withProgress(`waiting for ${word} to ${wanted(params.until)}`, waiting);
  return matched;
}

/** The screen is already printed; the exit code says that the condition was not met. */
function report(until: Until, matched: WaitOutcome, word: string, timeoutS: number): void {
  if (matched === "timeout")
    throw new CliError(
      `${word} did not ${wanted(until)} within ${timeoutS} s`,
      errorExitCode("COMMAND_TIMEOUT"),
    );
  if (matched === "exit" && !until.exit)
    throw new CliError(`${word} ended and did not ${wanted(until)}`, endedExitCode);
}

const endedExitCode = 1;

const wanted = ({ text, regex, idle_ms, exit }: Until): string =>
  [
    text === undefined ? [] : `show ${JSON.stringify(text)}`,
    regex === undefined ? [] : `show /${regex}/`,
    idle_ms === undefined ? [] : `be silent for ${idle_ms / 1000} s`,
    exit ? "end" : [],
  ]
    .flat()
    .join(" or ");
