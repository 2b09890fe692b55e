// trl runtimes: lists, adds, removes and checks runtimes.
import { type ArgsDef, defineCommand } from "citty";

import { discover } from "../../client/connect.ts";
import type { Discovered } from "../../client/discover.ts";
import type { Params } from "../../protocol/methods.ts";
import { hostRuntime, type RuntimeInfo, type RuntimeSpec } from "../../protocol/runtime.ts";
import { specFrom, specFromWords } from "../../protocol/runtime-spec.ts";
import { connectOrStart } from "../background-daemon.ts";
import { checkFlags } from "../check-flags.ts";
import type { DaemonClient } from "../client.ts";
import { connect, type SocketFlags, socketArgs, socketPathFrom, tryConnect } from "../connection.ts";
import { CliError, usageExitCode } from "../errors.ts";
import { jsonArgs, note, print, printJson } from "../ui/print.ts";
import { type Column, renderTable, stdoutLook } from "../ui/table.ts";

const args = {
  ...socketArgs,
  ...jsonArgs,
  labels: { type: "string", valueHint: "LABELS", description: "add: what it has, such as gpu,isolated" },
  "token-file": {
    type: "string",
    valueHint: "FILE",
    description: "add: the token of a daemon that is reached by HTTP",
  },
  force: { type: "boolean", description: "remove: also while it has sessions" },
} as const satisfies ArgsDef;

interface Given {
  json?: boolean | undefined;
  labels?: string | undefined;
  "token-file"?: string | undefined;
  force?: boolean | undefined;
}

export default defineCommand({
  meta: {
    name: "runtimes",
    description: "List the runtimes that sessions can live in; add, remove and check them",
  },
  args,
  async run({ args: given, rawArgs }) {
    checkFlags(rawArgs, args);
    const separator = rawArgs.indexOf("--");
    const behind = separator === -1 ? [] : rawArgs.slice(separator + 1);
    const [action = "list", ...words] = given._.slice(0, given._.length - behind.length);
    if (action === "list") return await list(given);
    const act = Object.hasOwn(actions, action) ? actions[action as keyof typeof actions] : undefined;
    if (!act)
      throw new CliError(`there is no "trl runtimes ${action}"`, usageExitCode, "list, add, remove or check");
    using client = action === "add" ? await connectOrStart(given) : await connect(socketPathFrom(given));
    await act(client, words, given, behind);
  },
});

type Action = (client: DaemonClient, words: string[], given: Given, behind: string[]) => Promise<void>;

const actions = {
  add: async (client, words, given, argv) => {
    const { name, spec } = wantedFrom(words, given, argv);
    const added = await client.call("runtime.add", { name, ...spec } as Params<"runtime.add">);
    if (given.json) return printJson(added);
    note(`${name} is known until the daemon ends; to keep it, put it into ~/.config/trl/config.toml:`);
    process.stderr.write(tomlOf(name, spec));
  },

  remove: async (client, words, { force = false }) => {
    await client.call("runtime.remove", { name: oneName(words), force });
  },

  check: async (client, words, { json }) => {
    const found = await client.call("runtime.check", { name: oneName(words) });
    const { name, kind, version, platform, latency_ms } = found;
    if (json) return printJson(found);
    print(
      `${name} (${kind}): trl ${version} on ${platform.os} ${platform.arch}, answered in ${latency_ms} ms\n`,
    );
  },
} satisfies Record<string, Action>;

/** The daemon's runtimes, and other daemons of this user that could be added. */
async function list(given: Given & SocketFlags): Promise<void> {
  const path = socketPathFrom(given);
  using client = await tryConnect(path);
  const { runtimes } = client ? await client.call("runtime.list", {}) : { runtimes: [] };
  const isKnown = ({ socketPath }: Discovered) =>
    (client && socketPath === path) || runtimes.some(({ target }) => target === socketPath);
  const daemons = (await discover()).filter((daemon) => !isKnown(daemon));
  if (given.json) return printJson({ runtimes, daemons });
  if (client) print(renderTable(runtimeColumns, runtimes, stdoutLook()));
  else note(`no daemon is listening on ${path}`);
  if (daemons.length === 0) return;
  const blank = client ? "\n" : "";
  const table = renderTable(daemonColumns, daemons, stdoutLook());
  print(`${blank}Other daemons of yours on this machine:\n${table}`);
  note("to use one of them: trl runtimes add NAME socket:SOCKET");
}

const daemonColumns: Column<Discovered>[] = [
  { title: "SOCKET", cell: ({ socketPath }) => socketPath },
  { title: "PID", cell: ({ pid }) => pid, isRight: true },
  { title: "VERSION", cell: ({ version }) => version },
  { title: "LABELS", cell: ({ labels }) => labels.join(",") },
];

const runtimeColumns: Column<RuntimeInfo>[] = [
  { title: "NAME", cell: ({ name }) => name },
  { title: "KIND", cell: ({ kind }) => kind },
  { title: "TARGET", cell: ({ target }) => target, shrinksTo: 12 },
  { title: "STATE", cell: ({ state }) => state },
  { title: "VERSION", cell: ({ version }) => version, leftOut: 1 },
  { title: "LABELS", cell: ({ labels }) => labels.join(","), shrinksTo: 8 },
  { title: "SESSIONS", cell: ({ sessions }) => sessions, isRight: true },
  { title: "RUNNING", cell: ({ running_commands }) => running_commands, isRight: true, leftOut: 2 },
  { title: "WHY", cell: ({ reason }) => reason, shrinksTo: 16 },
];

const example = "for example: trl runtimes add gpu ssh:user@host";

/** `NAME KIND:TARGET`, or `NAME command -- ARGV...`. */
function wantedFrom(words: string[], given: Given, argv: string[]): { name: string; spec: RuntimeSpec } {
  const [name, target, ...more] = words;
  if (name === undefined || target === undefined || more.length > 0)
    throw new CliError("a name and KIND:TARGET are needed", usageExitCode, example);
  const found =
    argv.length > 0 ? { spec: specFrom({ kind: target, argv }) } : specFromWords(`${name}=${target}`);
  if (!found || name === hostRuntime)
    throw new CliError(`"${target}" is not of the form KIND:TARGET`, usageExitCode, example);
  const labels = (given.labels ?? "").split(",").flatMap((word) => word.trim() || []);
  const further = {
    ...(labels.length > 0 ? { labels } : {}),
    ...(given["token-file"] === undefined ? {} : { token_file: given["token-file"] }),
  };
  return { name, spec: specFrom({ ...found.spec, ...further }) };
}

function tomlOf(name: string, spec: RuntimeSpec): string {
  const fields = Object.entries(spec).map(([field, value]) => `${field} = ${JSON.stringify(value)}\n`);
  return `\n[runtimes.${name}]\n${fields.join("")}`;
}

function oneName([name, ...more]: string[]): string {
  if (name !== undefined && more.length === 0) return name;
  throw new CliError("one name is needed", usageExitCode, "trl runtimes lists them");
}
