// trl describe: prints the methods of the daemon.
import { type ArgsDef, defineCommand } from "citty";
import { nearest } from "../../util/nearest.ts";
import { checkFlags } from "../check-flags.ts";
import { socketArgs, socketPathFrom, tryConnect } from "../connection.ts";
import { methodPage, overviewPage } from "../describe/pages.ts";
import { CliError, usageExitCode } from "../errors.ts";
import { startTemporaryDaemon } from "../temporary-daemon.ts";
import { stdoutPaint } from "../ui/paint.ts";
import { jsonArgs, print, printJson } from "../ui/print.ts";

const args = { ...socketArgs, ...jsonArgs } as const satisfies ArgsDef;

export default defineCommand({
  meta: { name: "describe", description: "Show the methods that the daemon has, or one of them in full" },
  args,
  async run({ args: given, rawArgs }) {
    checkFlags(rawArgs, args);
    const [name, ...more] = given._;
    if (more.length > 0) throw new CliError("only one method can be given", usageExitCode);
    using existing = await tryConnect(socketPathFrom(given));
    await using own = existing ? undefined : await startTemporaryDaemon();
    const described = await (existing ?? own!.client).call("system.describe", {});
    const method = name === undefined ? undefined : methodIn(described.methods, name);
    if (given.json) return printJson(method ?? described);
    const look = { paint: stdoutPaint(), columns: process.stdout.columns || Number.POSITIVE_INFINITY };
    print(`${method ? methodPage(name!, method, look) : overviewPage(described, look)}\n`);
  },
});

function methodIn<T>(methods: Record<string, T>, name: string): T {
  if (Object.hasOwn(methods, name)) return methods[name]!;
  const meant = nearest(name, Object.keys(methods));
  const hint = meant ? `is it meant to be ${meant}?` : "trl describe lists the methods";
  throw new CliError(`there is no method ${name}`, usageExitCode, hint);
}
