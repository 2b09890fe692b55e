#!/usr/bin/env bun
// Entry. What is not needed for what is asked is not loaded; a daemon settles with the engine before anything else is.
import { asksForDaemon } from "./cli/asks.ts";
import { isSettled } from "./util/engine-settings.ts";
import { screenProcessWord } from "./util/own-words.ts";

const words = process.argv.slice(2);
if (process.platform === "linux" && asksForDaemon(words) && !isSettled(process.env)) {
  const { settleEngine } = await import("./daemon/settle-engine-linux.ts");
  settleEngine(process.env);
}
if (words[0] === screenProcessWord) {
  const { serveScreens } = await import("./daemon/screen-process.ts");
  await serveScreens();
}
const { run } = await import("./cli/words.ts");
await run(words);
// Standard input may still be open; what was asked for is done.
process.exit();
