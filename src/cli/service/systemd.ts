// The service as a unit of the systemd user instance.
import { join } from "node:path";
import { CliError, usageExitCode } from "../errors.ts";
import { queryProgram } from "../query-program.ts";
import { quoteWords } from "../shell-words.ts";
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
  // The XDG specification says to ignore relative paths.
  const config = env["XDG_CONFIG_HOME"]?.startsWith("/") ? env["XDG_CONFIG_HOME"] : join(home, ".config");
  const ask = (words: Command) => queryProgram(words, { limitMs, env });
  const enableAndStart = [systemctl("daemon-reload"), systemctl("enable", "--now", unit)];
  return {
    name: "systemd",
    env,
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
    enableAndStart,
    startAgain: enableAndStart,
    stopAndDisable: [systemctl("disable", "--now", unit)],
    afterRemoval: [systemctl("daemon-reload")],
    restart: quoteWords(systemctl("restart", unit)),
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
# SIGTERM goes to trl alone, which ends and reports all that it has started. systemd kills the rest.
KillMode=mixed
TimeoutStopSec=15
# Not after a stop, nor after an error that would repeat: 1 and 64 are wrong settings.
Restart=on-failure
RestartSec=1
RestartPreventExitStatus=1 64
# trl creates control groups below that of the service.
Delegate=yes

[Install]
WantedBy=default.target
`;
}

/** systemd expands no variables in the program's path and refuses some characters there. */
function programWord(path: string): string {
  if (/["'\\\p{Cc}]/u.test(path)) {
    const hint = "move the program to another path and install from there";
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

/** systemd.syntax(7): C escapes between quotes; a percent sign begins a specifier. */
function quoted(word: string): string {
  if (/^[\w@+=:,./-]+$/.test(word)) return word;
  const escaped = word
    .replaceAll(/["\\]/g, "\\$&")
    .replaceAll(/\p{Cc}/gu, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`)
    .replaceAll("%", "%%");
  return `"${escaped}"`;
}
