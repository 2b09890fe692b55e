// trl ping: pings the daemon.
import { type ArgsDef, defineCommand } from "citty";
import { checkFlags, refuseWords } from "../check-flags.ts";
import { connect, socketArgs, socketPathFrom } from "../connection.ts";
import { jsonArgs, print, printJson } from "../ui/print.ts";

const args = { ...socketArgs, ...jsonArgs } as const satisfies ArgsDef;

export default defineCommand({
  meta: { name: "ping", description: "Ask the daemon whether it is alive" },
  args,
  async run({ args: given, rawArgs }) {
    checkFlags(rawArgs, args);
    refuseWords(given._);
    const path = socketPathFrom(given);
    using client = await connect(path);
    const began = performance.now();
    const { version, uptime_s } = await client.call("system.ping", {});
    const ms = (performance.now() - began).toFixed(2);
    if (given.json) printJson({ version, socket: path, uptime_s, answered_ms: Number(ms) });
    else print(`trl ${version} on ${path}: up ${uptime_s} s, answered in ${ms} ms\n`);
  },
});
