#!/usr/bin/env bun
// Entry point. Each command loads its own modules.
import { screenProcessCommand } from "./util/internal-commands.ts";

const words = process.argv.slice(2);
if (words[0] === screenProcessCommand) {
  const { serveScreens } = await import("./daemon/screen-process.ts");
  await serveScreens();
}
const { run } = await import("./cli/run-cli.ts");
await run(words);
// An open standard input would otherwise keep the process alive after the command is done.
process.exit();
