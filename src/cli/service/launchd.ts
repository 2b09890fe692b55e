// The service as a launchd agent of the user, on macOS.
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

const label = "trl";
const limitMs = 10_000;
/** What `bootstrap` exits with while the job of a `bootout` is still ending, for some seconds. */
const EIO = 5;
/** What `bootout` exits with while the job is ending, and once it has ended. */
const EINPROGRESS = 36;
const ESRCH = 3;

export function launchd({ home, uid, env }: Surroundings): ServiceManager {
  const domain = `gui/${uid}`;
  const target = `${domain}/${label}`;
  const file = join(home, "Library/LaunchAgents", `${label}.plist`);
  const log = join(home, "Library/Logs/trl.log");
  const ask = (...words: string[]) => queryProgram(["launchctl", ...words], { limitMs, env });
  const enable: Command = ["launchctl", "enable", target];
  const load: Command = ["launchctl", "bootstrap", domain, file];
  const unload: Command = ["launchctl", "bootout", target];
  return {
    name: "launchd",
    env,
    file,
    fileText: (plan) => plistText(plan, { home, log }),
    async whyUnreachable() {
      const answer = await ask("print", domain);
      if (!answer) return "there is no launchctl on this machine";
      return answer.code === 0 ? undefined : "this user is not logged in at the screen";
    },
    async state() {
      const answer = await ask("print", target);
      return stateIn(answer?.code === 0 ? answer.out : undefined);
    },
    enable: [enable],
    enableAndStart: [enable, load],
    // launchd reads the file when it loads it, and refuses to load a job that it has.
    startAgain: [unload, enable, load],
    judge([, verb], code) {
      if (verb === "bootstrap" && code === EIO) return "transient";
      if (verb === "bootout" && code === EINPROGRESS) return "transient";
      return verb === "bootout" && code === ESRCH ? "done" : undefined;
    },
    stopAndDisable: [unload],
    afterRemoval: [],
    restart: `${quoteWords(unload)}; for i in 1 2 3 4 5 6 7 8 9; do ${quoteWords(load)} && break; sleep 2; done`,
    whereItsLogIs: quoteWords(["tail", log]),
    advice: async () => undefined,
  };
}

function stateIn(printed: string | undefined): ServiceState {
  const pid = Number(/^\s*pid = (\d+)$/m.exec(printed ?? "")?.[1] ?? 0) || null;
  return { isEnabled: printed !== undefined, isActive: pid !== null, pid };
}

export function plistText(plan: ServicePlan, { home, log }: { home: string; log: string }): string {
  const words = [...plan.program, "serve", ...plan.serveFlags];
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ${markerOf(plan)} -->
<!-- Written by "trl service install", which may write it again; "trl service uninstall" removes it. -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${label}</string>
  <key>ProgramArguments</key>
  <array>
${words.map((word) => `    <string>${escaped(word)}</string>`).join("\n")}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${Object.entries(plan.environment).map(environmentEntry).join("\n")}
  </dict>
  <key>WorkingDirectory</key>
  <string>${escaped(home)}</string>
  <key>RunAtLoad</key>
  <true/>
  <!-- Restarted after a failure, not after a stop. -->
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ExitTimeOut</key>
  <integer>15</integer>
  <!-- Interactive: launchd would throttle a background job, and users type into its terminals. -->
  <key>ProcessType</key>
  <string>Interactive</string>
  <key>StandardErrorPath</key>
  <string>${escaped(log)}</string>
</dict>
</plist>
`;
}

const environmentEntry = ([name, value]: [string, string]) =>
  `    <key>${name}</key>\n    <string>${escaped(value)}</string>`;

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escaped(text: string): string {
  if (/[\x00-\x08\x0b\x0c\x0e-\x1f]/.test(text))
    throw new CliError(`launchd takes no control characters: ${JSON.stringify(text)}`, usageExitCode);
  return text.replaceAll(/[&<>"]/g, (character) => entities[character]!);
}
