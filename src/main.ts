#!/usr/bin/env bun
// Entry. Each verb loads its own code.
import { screenProcessCommand } from "./util/internal-commands.ts";

const words = process.argv.slice(2);
if (words[0] === screenProcessCommand) {
  const { serveScreens } = await import("./daemon/screen-process.ts");
  await serveScreens();
}
const { run } = await import("./cli/run-cli.ts");
await run(words);
// Standard input may still be open; what was asked for is done.
process.exit();
