// What the command line asks for, as far as it can be told before anything is loaded.

export const asksForVersion = ([first]: string[]): boolean =>
  first === "--version" || first === "-V" || first === "version";

export function asksForHelp(words: string[]): boolean {
  const separator = words.indexOf("--");
  const own = separator === -1 ? words : words.slice(0, separator);
  return own[0] === "help" || own.includes("--help") || own.includes("-h");
}

/** Flags alone mean `serve`, as the launchers of claw_core start it. */
export function asksForDaemon(words: string[]): boolean {
  const [first = "serve"] = words;
  return (first === "serve" || first.startsWith("-")) && !asksForVersion(words) && !asksForHelp(words);
}
