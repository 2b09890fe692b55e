// trl service: installs the daemon as a service of systemd or launchd.
import { homedir } from "node:os";
import { type ArgsDef, defineCommand, parseArgs } from "citty";
import { checkFlags, refuseWords } from "../check-flags.ts";
import { type SocketFlags, socketArgs, socketPathFrom } from "../connection.ts";
import { engineSettings } from "../engine-environment.ts";
import { CliError, unavailableExitCode, usageExitCode } from "../errors.ts";
import { ownProgram } from "../own-program.ts";
import { install, type ServiceStatus, statusOf, uninstall } from "../service/actions.ts";
import { launchd } from "../service/launchd.ts";
import type { Command, ServiceManager, ServicePlan } from "../service/manager.ts";
import { systemd } from "../service/systemd.ts";
import { quoteWords } from "../shell-words.ts";
import { jsonArgs, print, printJson } from "../ui/print.ts";

const args = {
  ...socketArgs,
  "dry-run": {
    type: "boolean",
    description: "Print what would be written, removed and run, and change nothing",
  },
  force: { type: "boolean", description: "Replace or remove a file that was not written by trl" },
  ...jsonArgs,
} as const satisfies ArgsDef;

export default defineCommand({
  meta: { name: "service", description: "Have the daemon started at login, by systemd or launchd" },
  args,
  async run({ args: given, rawArgs }) {
    checkFlags(rawArgs, args);
    const separator = rawArgs.indexOf("--");
    const serveFlags = separator === -1 ? [] : rawArgs.slice(separator + 1);
    const [action, ...more] = given._.slice(0, given._.length - serveFlags.length);
    refuseWords(more);
    const manager = managerHere();
    const isForced = given.force === true;
    const show = (status: ServiceStatus) => (given.json ? printJson(status) : print(statusPage(status)));
    if (action === "install") {
      const plan = await planFrom(given, serveFlags);
      return given["dry-run"]
        ? printInstall(manager, plan, given.json)
        : show(await install(manager, plan, isForced));
    }
    if (action === "uninstall") {
      if (given["dry-run"]) return printUninstall(manager, given.json);
      const wasInstalled = await uninstall(manager, isForced);
      const what = wasInstalled ? `removed ${manager.file}` : "the service is not installed";
      if (!given.json) process.stderr.write(`trl: ${what}\n`);
      return given.json ? printJson({ removed: wasInstalled ? manager.file : null }) : undefined;
    }
    if (action !== "status")
      throw new CliError(unknown(action), usageExitCode, "trl service install|uninstall|status");
    const status = await statusOf(manager);
    process.exitCode = status.active ? 0 : unavailableExitCode;
    await show(status);
  },
});

const unknown = (action: string | undefined) =>
  action === undefined ? "what is to be done with the service?" : `the service cannot "${action}"`;

function managerHere(): ServiceManager {
  const surroundings = { home: homedir(), uid: process.getuid?.() ?? 0, env: process.env };
  return process.platform === "darwin" ? launchd(surroundings) : systemd(surroundings);
}

/** The serve flags choose the socket; without them it is the socket that this command line selects. */
async function planFrom(given: SocketFlags, serveFlags: string[]): Promise<ServicePlan> {
  const { default: serve } = await import("./serve.ts");
  checkFlags(serveFlags, serve.args as ArgsDef);
  refuseRelative(serveFlags, serve.args as ArgsDef);
  const own = parseArgs<typeof socketArgs>(serveFlags, socketArgs);
  const isChosen = Boolean(own["socket-path"] || own["socket-dir"]);
  const socketPath = socketPathFrom(isChosen ? own : given);
  return {
    program: ownProgram(),
    serveFlags: isChosen ? serveFlags : ["--socket-path", socketPath, ...serveFlags],
    socketPath,
    environment: { PATH: process.env["PATH"] ?? "", ...(await engineSettings()) },
  };
}

/** The service manager starts the daemon in another working directory. */
function refuseRelative(serveFlags: string[], serveArgs: ArgsDef): void {
  const values = parseArgs(serveFlags, serveArgs) as Record<string, unknown>;
  for (const [name, { valueHint }] of Object.entries(serveArgs)) {
    const value = values[name];
    if (typeof value !== "string" || value.startsWith("/") || !/^(?:PATH|DIR|FILE)$/.test(valueHint ?? ""))
      continue;
    throw new CliError(`--${name} needs an absolute path for a service, not "${value}"`, usageExitCode);
  }
}

function printInstall(manager: ServiceManager, plan: ServicePlan, isJson: boolean | undefined): void {
  const text = manager.fileText(plan);
  const commands = manager.enableAndStart;
  const page = `This would be written to ${manager.file}:\n\n${text}\nAnd then:\n\n`;
  const lines = commands.map((command) => `  ${quoteWords(command)}`).join("\n");
  if (isJson) printJson({ path: manager.file, text, commands });
  else print(`${page}${lines}\n`);
}

function printUninstall(manager: ServiceManager, isJson: boolean | undefined): void {
  const commands = [...manager.stopAndDisable, ...manager.afterRemoval];
  const lines = (some: Command[]) => some.map((command) => `  ${quoteWords(command)}\n`).join("");
  if (isJson) printJson({ path: manager.file, commands });
  else
    print(
      `This would be run, where the service is installed:\n\n${lines(manager.stopAndDisable)}` +
        `  ${quoteWords(["rm", manager.file])}\n${lines(manager.afterRemoval)}`,
    );
}

function statusPage({
  manager,
  path,
  installed,
  enabled,
  active,
  pid,
  socket,
  notes,
}: ServiceStatus): string {
  const yes = (is: boolean) => (is ? "yes" : "no");
  const rows = [
    [
      "installed",
      installed ? `yes, for ${manager}: ${path}` : `no; trl service install does it, for ${manager}`,
    ],
    ["enabled", yes(enabled)],
    ["active", active && pid !== null ? `yes, pid ${pid}` : yes(active)],
    ["socket", socket ?? "-"],
    ...notes.map((note) => ["note", note]),
  ];
  return rows.map(([name, value]) => `${name!.padEnd(9)}  ${value}\n`).join("");
}
