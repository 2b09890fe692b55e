import { type ArgsDef, defineCommand } from "citty";
import type { TrlClient } from "../client/client.ts";
import { discover } from "../client/connect.ts";
import type { Discovered } from "../client/discover.ts";
import type { Params } from "../protocol/methods.ts";
import { hostRuntime, type RuntimeInfo, type RuntimeSpec } from "../protocol/runtime.ts";
import { specFrom, specFromWords } from "../protocol/runtime-spec.ts";
import { connectOrStart } from "./background-daemon.ts";
import { checkFlags } from "./check-flags.ts";
import { connect, type SocketFlags, socketArgs, socketPathFrom, tryConnect } from "./connection.ts";
import { CliError, usageExitCode } from "./errors.ts";
import { printable, table } from "./table.ts";

const args = {
  ...socketArgs,
  json: { type: "boolean", description: "Print JSON" },
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
    description: "List the places where sessions can live; add, remove and check them",
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

type Action = (client: TrlClient, words: string[], given: Given, behind: string[]) => Promise<void>;

const actions = {
  add: async (client, words, given, argv) => {
    const { name, spec } = wantedFrom(words, given, argv);
    const added = await client.call("runtime.add", { name, ...spec } as Params<"runtime.add">);
    if (given.json) process.stdout.write(`${JSON.stringify(added)}\n`);
    else
      process.stderr.write(
        `trl: ${name} is known until the daemon ends; to keep it, put it into ~/.config/trl/config.toml:\n${tomlOf(name, spec)}`,
      );
  },

  remove: async (client, words, { force = false }) => {
    await client.call("runtime.remove", { name: oneName(words), force });
  },

  check: async (client, words, { json }) => {
    const found = await client.call("runtime.check", { name: oneName(words) });
    const { name, kind, version, platform, latency_ms } = found;
    const text = `${name} (${kind}): trl ${version} on ${platform.os} ${platform.arch}, answered in ${latency_ms} ms`;
    process.stdout.write(json ? `${JSON.stringify(found)}\n` : `${text}\n`);
  },
} satisfies Record<string, Action>;

/** What the daemon knows; and the daemons of this user that it could be told of. */
async function list(given: Given & SocketFlags): Promise<void> {
  const path = socketPathFrom(given);
  using client = await tryConnect(path);
  const { runtimes } = client ? await client.call("runtime.list", {}) : { runtimes: [] };
  const isKnown = ({ socketPath }: Discovered) =>
    (client && socketPath === path) || runtimes.some(({ target }) => target === socketPath);
  const daemons = (await discover()).filter((daemon) => !isKnown(daemon));
  if (given.json) {
    process.stdout.write(`${JSON.stringify({ runtimes, daemons })}\n`);
    return;
  }
  if (client) process.stdout.write(tableOf(runtimes));
  else process.stderr.write(`trl: no daemon is listening on ${path}\n`);
  if (daemons.length === 0) return;
  const blank = client ? "\n" : "";
  process.stdout.write(`${blank}Other daemons of yours on this machine:\n${daemonTable(daemons)}`);
  process.stderr.write("trl: to use one of them: trl runtimes add NAME socket:SOCKET\n");
}

function daemonTable(daemons: Discovered[]): string {
  const rows = daemons.map((it) => [it.socketPath, String(it.pid), it.version, it.labels.join(",") || "-"]);
  return table([["SOCKET", "PID", "VERSION", "LABELS"], ...rows]);
}

const header = ["NAME", "KIND", "TARGET", "STATE", "VERSION", "LABELS", "SESSIONS", "RUNNING", "WHY"];

function tableOf(runtimes: RuntimeInfo[]): string {
  const count = (value: number | null) => (value === null ? "-" : String(value));
  const rows = runtimes.map((it) => [
    it.name,
    it.kind,
    printable(it.target),
    it.state,
    it.version ?? "-",
    it.labels.join(",") || "-",
    count(it.sessions),
    count(it.running_commands),
    printable(it.reason, 80),
  ]);
  return table([header, ...rows]);
}

const example = "for example: trl runtimes add gpu ssh:user@host";

/** `NAME KIND:TARGET`, or `NAME command -- ARGV...`. */
function wantedFrom(words: string[], given: Given, argv: string[]): { name: string; spec: RuntimeSpec } {
  const [name, target, ...more] = words;
  if (name === undefined || target === undefined || more.length > 0)
    throw new CliError("a name and a place are needed", usageExitCode, example);
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
