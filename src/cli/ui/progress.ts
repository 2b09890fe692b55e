// One quiet line for what takes long: only for a person at a terminal, only after a moment, and gone afterwards.
import { duration } from "./format.ts";
import { say } from "./terminal/user-terminal.ts";

const quietMs = 500;
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
  let timer = setTimeout(show, quietMs);
  const leave = () => process.exit(interruptedExitCode);
  const isOurs = process.listenerCount("SIGINT") === 0; // else somebody has plans for it
  process.on("exit", hide);
  if (isOurs) process.on("SIGINT", leave);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
    process.off("exit", hide);
    process.off("SIGINT", leave);
    hide();
  }
}

/** 128 and the number of SIGINT. */
const interruptedExitCode = 130;
