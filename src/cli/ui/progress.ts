// A progress line on stderr for slow operations: only on a terminal, after a delay, erased at the end.
import { duration } from "./format.ts";
import { say } from "./terminal/user-terminal.ts";

const delayMs = 500;
const refreshMs = 1000;
const erase = "\r\x1b[2K";

/** Shows `text` while `work` is under way. */
export async function withProgress<T>(text: string, work: Promise<T>): Promise<T> {
  if (!process.stderr.isTTY || process.env["TERM"] === "dumb") return await work;
  const began = performance.now();
  let isShown = false;
  const show = () => {
    isShown = true;
    say(2, `${erase}${text} (${duration(performance.now() - began)})`);
    timer = setTimeout(show, refreshMs);
  };
  const hide = () => {
    if (isShown) say(2, erase);
    isShown = false;
  };
  let timer = setTimeout(show, delayMs);
  const exit = () => process.exit(interruptedExitCode);
  const hasNoHandler = process.listenerCount("SIGINT") === 0; // else the verb handles ^C
  process.on("exit", hide);
  if (hasNoHandler) process.on("SIGINT", exit);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
    process.off("exit", hide);
    process.off("SIGINT", exit);
    hide();
  }
}

/** 128 + SIGINT. */
const interruptedExitCode = 130;
