// The engine reads its settings before any of our code: a daemon that wants others starts itself again with them, first
// of all, when hardly anything is loaded. It keeps its pid; it costs some 7 ms.
import { readdirSync, readlinkSync, realpathSync } from "node:fs";
import { basename } from "node:path";
import { become } from "../core/process/become.ts";
import { keepAcrossExec } from "../core/process/crossing-linux.ts";
import { compileLater, missingSettings, withoutThreads } from "../util/engine-settings.ts";
import { hasFewProcesses } from "./few-processes-linux.ts";

type Environment = Record<string, string | undefined>;

/** Who takes the place of another program has been given its descriptors, and all that it knows of them. */
const handover = "TRL_HANDOVER";
/** Who is there for one command is gone before anything has run often. */
const lifeline = "TRL_LIFELINE";

/** Whoever looks into the engine has it as it is: it listens for them already. */
const inspection = "BUN_INSPECT";

/** Does not return where it starts the program again. Where that cannot be, it is the engine as it is. */
export function settleEngine(env: Environment): void {
  if (!isProgramItself() || env[handover] !== undefined || env[inspection] !== undefined) return;
  const wanted = {
    ...(env[lifeline] === undefined ? compileLater : {}),
    ...(hasFewProcesses() ? withoutThreads : {}),
  };
  const missing = missingSettings(wanted, env);
  if (missing) startAgain(missing);
}

/** And no source that Bun runs, nor a file that a loader was asked to load. */
const isProgramItself = (): boolean =>
  Bun.main.startsWith("/$bunfs/") && !/^ld(?:-|\.so|64\.so)/.test(basename(process.execPath));

/** Returns where its file is gone, or the environment has no room. */
function startAgain(env: Record<string, string>): void {
  const given = givenDescriptors();
  if (!given) return;
  for (const fd of given) keepAcrossExec(fd, true);
  become({ path: startedBy(), argv: [process.argv0, ...process.argv.slice(2)], env });
  for (const fd of given) keepAcrossExec(fd, false);
}

/** The way it was called, by which the system lists it, if that leads to this file. */
function startedBy(): string {
  const path = process.argv0.includes("/") ? process.argv0 : Bun.which(process.argv0);
  try {
    if (path && realpathSync(path) === process.execPath) return path;
  } catch {
    // called by a name that is none
  }
  return process.execPath;
}

/** Bun has marked them to be closed by an exec, but whoever gave them (a lock, say) meant them to stay open. */
function givenDescriptors(): number[] | undefined {
  try {
    const names = readdirSync("/proc/self/fd").filter((name) => Number(name) > 2);
    return names.filter((name) => !isOfEngine(`/proc/self/fd/${name}`)).map(Number);
  } catch {
    return undefined; // nobody can tell
  }
}

/** Its event loop; nobody gives such a thing to another program. */
const ofEngine = /^anon_inode:\[?(?:eventpoll|eventfd|timerfd|io_uring)/;

function isOfEngine(link: string): boolean {
  try {
    return ofEngine.test(readlinkSync(link));
  } catch {
    return true; // the directory that was just read
  }
}
