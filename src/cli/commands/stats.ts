// trl stats: prints the daemon's counters.
import { type ArgsDef, defineCommand } from "citty";
import { checkFlags, refuseWords } from "../check-flags.ts";
import { connect, socketArgs, socketPathFrom } from "../connection.ts";
import { jsonArgs, print, printJson } from "../ui/print.ts";

const args = { ...socketArgs, ...jsonArgs } as const satisfies ArgsDef;

export default defineCommand({
  meta: { name: "stats", description: "Show the daemon's counts: sessions, commands, memory" },
  args,
  async run({ args: given, rawArgs }) {
    checkFlags(rawArgs, args);
    refuseWords(given._);
    using client = await connect(socketPathFrom(given));
    const stats = await client.call("system.stats", {});
    if (given.json) return printJson(stats);
    const width = Math.max(...Object.keys(stats).map((name) => name.length));
    for (const [name, value] of Object.entries(stats)) {
      print(`${name.replaceAll("_", " ").padEnd(width)}  ${value.toLocaleString("en-US")}\n`);
    }
  },
});
