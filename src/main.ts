#!/usr/bin/env bun
// Entry point. Each command loads its own modules.
import { screenProcessWord } from "./util/own-words.ts";

const words = process.argv.slice(2);
if (words[0] === screenProcessWord) {
  const { serveScreens } = await import("./daemon/screen-process.ts");
  await serveScreens();
}
const { run } = await import("./cli/run-cli.ts");
await run(words);
// An open standard input would otherwise keep the process alive after the command is done.
process.exit();
