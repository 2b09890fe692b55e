// The daemon's log, on stderr: readable lines (pretty), or one JSON object per line.
import { type ConsolaReporter, createConsola, LogLevels, type LogType } from "consola/core";
import type { Log, LogFields } from "../core/log.ts";
import { isTerminal } from "../platform/libc.ts";
import { hasColour, type Paint, paintFor, type Tone } from "../util/style.ts";

export function createLog(options: { format: "pretty" | "json"; isVerbose: boolean }): Log {
  const isJson = options.format === "json";
  const consola = createConsola({
    level: options.isVerbose ? LogLevels.debug : LogLevels.info,
    reporters: [isJson ? jsonReporter() : prettyReporter()],
  });
  const write =
    (level: keyof Log) =>
    (message: string, fields: LogFields = {}) =>
      isJson ? consola[level](message, fields) : consola[level](message + asWords(fields));
  // Called for every command, so a line that is not printed is not formatted either.
  const debug = options.isVerbose ? write("debug") : () => {};
  return { debug, info: write("info"), warn: write("warn"), error: write("error") };
}

function jsonReporter(): ConsolaReporter {
  const print = stderrPrinter();
  return {
    log({ date, type, args: [message, fields, repeated] }) {
      const [times] = /\d+/.exec(String(repeated)) ?? [];
      const line = { time: date.toISOString(), level: type, message, ...(fields as LogFields) };
      print(JSON.stringify(times === undefined ? line : { ...line, repeated: Number(times) }));
    },
  };
}

/** The font of the Linux console lacks the symbols. */
const isConsole = process.env["TERM"] === "linux";
const signs: Partial<Record<LogType, [tone: Tone, sign: string]>> = {
  debug: ["dim", isConsole ? "D" : "\u2699"],
  info: ["cyan", isConsole ? "i" : "\u2139"],
  warn: ["yellow", "WARN"],
  error: ["red", "ERROR"],
};

/** Prints the time on a terminal alone: a journal or a log file has its own timestamps. */
function prettyReporter(): ConsolaReporter {
  const print = stderrPrinter();
  const isOnTerminal = isTerminal(2);
  const paint: Paint = paintFor(hasColour(isOnTerminal, process.env));
  return {
    log({ date, type, args }) {
      const [tone, sign] = signs[type] ?? ["dim", type];
      const time = isOnTerminal ? `${paint("dim", date.toTimeString().slice(0, 8))} ` : "";
      print(`${time}${paint(tone, sign)} ${args.join(" ")}`); // consola appends how often the message was repeated
    },
  };
}

/**
 * Writes without `process.stderr`, which takes milliseconds to load. Write errors are ignored: the reader of the log may
 * go away, and the daemon continues.
 */
function stderrPrinter(): (line: string) => void {
  let sink: Bun.FileSink | undefined;
  const ignore = (written: number | Promise<number>) => {
    if (typeof written !== "number") written.catch(() => {});
  };
  return (line) => {
    try {
      sink ??= Bun.stderr.writer();
      ignore(sink.write(`${line}\n`));
      ignore(sink.flush());
    } catch {
      // stderr is closed
    }
  };
}

function asWords(fields: LogFields): string {
  const words = Object.entries(fields).filter(([, value]) => value !== undefined);
  return words.map(([name, value]) => ` ${name}=${value}`).join("");
}
