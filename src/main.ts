#!/usr/bin/env bun
// Entry. What is not needed for what is asked is not loaded; a daemon settles with the engine before anything else is.
import { asksForDaemon } from "./cli/asks.ts";
import { isSettled } from "./util/engine-settings.ts";

const words = process.argv.slice(2);
if (process.platform === "linux" && asksForDaemon(words) && !isSettled(process.env)) {
  const { settleEngine } = await import("./daemon/settle-engine-linux.ts");
  settleEngine(process.env);
}
const { run } = await import("./cli/words.ts");
await run(words);
// Standard input may still be open; what was asked for is done.
process.exit();
