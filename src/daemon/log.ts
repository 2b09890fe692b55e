// The daemon's log, on stderr: for people on a terminal, or one JSON object a line for machines.
import { type ConsolaReporter, createConsola, LogLevels } from "consola";
import type { Log, LogFields } from "../core/log.ts";

export function createLog(options: { format: "pretty" | "json"; isVerbose: boolean }): Log {
  const isJson = options.format === "json";
  process.stderr.on("error", () => {}); // whoever read the log may go away; the daemon goes on
  const consola = createConsola({
    level: options.isVerbose ? LogLevels.debug : LogLevels.info,
    stdout: process.stderr,
    stderr: process.stderr,
    ...(isJson ? { reporters: [jsonReporter] } : {}),
  });
  const say =
    (level: keyof Log) =>
    (message: string, fields: LogFields = {}) =>
      isJson ? consola[level](message, fields) : consola[level](message + asWords(fields));
  // Said for every command: what nobody will read is not put together.
  const debug = options.isVerbose ? say("debug") : () => {};
  return { debug, info: say("info"), warn: say("warn"), error: say("error") };
}

const jsonReporter: ConsolaReporter = {
  log({ date, type, args: [message, fields] }) {
    const line = { time: date.toISOString(), level: type, message, ...(fields as LogFields) };
    process.stderr.write(`${JSON.stringify(line)}\n`);
  },
};

function asWords(fields: LogFields): string {
  const words = Object.entries(fields).filter(([, value]) => value !== undefined);
  return words.map(([name, value]) => ` ${name}=${value}`).join("");
}
