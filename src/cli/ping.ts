import { defineCommand } from "citty";
import { checkFlags } from "./check-flags.ts";
import { connect, socketArgs, socketPathFrom } from "./connection.ts";

export default defineCommand({
  meta: { name: "ping", description: "Ask the daemon whether it is alive" },
  args: socketArgs,
  async run({ args, rawArgs }) {
    checkFlags(rawArgs, socketArgs);
    const path = socketPathFrom(args);
    using client = await connect(path);
    const began = performance.now();
    const { version, uptime_s } = await client.call("system.ping", {});
    const ms = (performance.now() - began).toFixed(2);
    process.stdout.write(`trl ${version} on ${path}: up ${uptime_s} s, answered in ${ms} ms\n`);
  },
});
