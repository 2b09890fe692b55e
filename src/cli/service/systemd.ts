// A unit of the user's systemd.
import { join } from "node:path";
import { CliError, usageExitCode } from "../errors.ts";
import { queryProgram } from "../query-program.ts";
import {
  type Command,
  markerOf,
  type ServiceManager,
  type ServicePlan,
  type ServiceState,
  type Surroundings,
} from "./manager.ts";

const unit = "trl.service";
const limitMs = 10_000;

const systemctl = (...words: string[]): Command => ["systemctl", "--user", ...words];

export function systemd({ home, uid, env }: Surroundings): ServiceManager {
  // By its specification, a relative path is not to be used.
  const config = env["XDG_CONFIG_HOME"]?.startsWith("/") ? env["XDG_CONFIG_HOME"] : join(home, ".config");
  const ask = (words: Command) => queryProgram(words, { limitMs, env });
  return {
    name: "systemd",
    file: join(config, "systemd/user", unit),
    fileText: unitText,
    async whyUnreachable() {
      const answer = await ask(systemctl("show-environment"));
      if (!answer) return "there is no systemctl on this machine";
      return answer.code === 0 ? undefined : "there is no systemd session of this user";
    },
    async state() {
      const properties = "UnitFileState,ActiveState,MainPID";
      return stateIn((await ask(systemctl("show", unit, `--property=${properties}`)))?.out ?? "");
    },
    enable: [systemctl("daemon-reload"), systemctl("enable", unit)],
    enableAndStart: [systemctl("daemon-reload"), systemctl("enable", "--now", unit)],
    stopAndDisable: [systemctl("disable", "--now", unit)],
    afterRemoval: [systemctl("daemon-reload")],
    restart: [systemctl("restart", unit)],
    whereItsLogIs: `journalctl --user -u ${unit}`,
    async advice() {
      const answer = await ask(["loginctl", "show-user", String(uid), "--property=Linger", "--value"]);
      if (answer?.out.trim() !== "no") return undefined;
      return "it ends when you log out; to keep it, and to have it from boot on: loginctl enable-linger";
    },
  };
}

function stateIn(properties: string): ServiceState {
  const get = (name: string) => new RegExp(`^${name}=(.*)$`, "m").exec(properties)?.[1] ?? "";
  const isActive = ["active", "activating", "reloading"].includes(get("ActiveState"));
  return {
    isEnabled: get("UnitFileState").startsWith("enabled"),
    isActive,
    pid: isActive ? Number(get("MainPID")) || null : null,
  };
}

export function unitText(plan: ServicePlan): string {
  const [program, ...words] = [...plan.program, "serve", ...plan.serveFlags];
  return `# ${markerOf(plan)}
# Written by "trl service install", which may write it again; "trl service uninstall" removes it.

[Unit]
Description=trl, a terminal runtime

[Service]
Type=exec
ExecStart=${[programWord(program!), ...words.map(argumentWord)].join(" ")}
${Object.entries(plan.environment).map(environmentLine).join("\n")}
# Only trl is told to end: it ends all that it has started and says how. What is left then is killed.
KillMode=mixed
TimeoutStopSec=15
# Not after an end that was asked for, nor after one that comes again: 1 and 64 are wrong settings.
Restart=on-failure
RestartSec=1
RestartPreventExitStatus=1 64
# Control groups below that of the service are for trl to make.
Delegate=yes

[Install]
WantedBy=default.target
`;
}

/** The program's path is not searched for variables, and must be free of what systemd refuses there. */
function programWord(path: string): string {
  if (/["'\\\p{Cc}]/u.test(path)) {
    const hint = "put the program elsewhere and install from there";
    throw new CliError(
      `systemd takes no program with a quote, a backslash or a control character in its path: ${path}`,
      usageExitCode,
      hint,
    );
  }
  return quoted(path);
}

const environmentLine = ([name, value]: [string, string]) => `Environment=${quoted(`${name}=${value}`)}`;

const argumentWord = (word: string) => quoted(word.replaceAll("$", "$$$$"));

/** As systemd.syntax(7) has it: C escapes between quotes; a percent sign begins a specifier. */
function quoted(word: string): string {
  if (/^[\w@+=:,./-]+$/.test(word)) return word;
  const escaped = word
    .replaceAll(/["\\]/g, "\\$&")
    .replaceAll(/\p{Cc}/gu, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`)
    .replaceAll("%", "%%");
  return `"${escaped}"`;
}
