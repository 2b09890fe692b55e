// The engine reads its settings before any of our code: a daemon that wants others starts itself again with them, first
// of all, when hardly anything is loaded. It keeps its pid; it costs some 5 ms.
import { readdirSync, readlinkSync, realpathSync } from "node:fs";
import { become } from "../core/process/become.ts";
import { keepAcrossExec } from "../core/process/crossing-linux.ts";
import { compileLater, missingSettings, withoutThreads } from "../util/engine-settings.ts";
import { hasFewProcesses } from "./few-processes-linux.ts";

type Environment = Record<string, string | undefined>;

/** Who takes the place of another program has been given its descriptors, and all that it knows of them. */
const handover = "TRL_HANDOVER";
/** Who is there for one command is gone before anything has run often. */
const lifeline = "TRL_LIFELINE";

/** Does not return where it starts the program again. */
export function settleEngine(env: Environment): void {
  const isCompiled = Bun.main.startsWith("/$bunfs/");
  if (!isCompiled || env[handover] !== undefined) return;
  const wanted = {
    ...(env[lifeline] === undefined ? compileLater : {}),
    ...(hasFewProcesses() ? withoutThreads : {}),
  };
  const missing = missingSettings(wanted, env);
  if (missing) startAgain(missing);
}

/** Returns where its file is gone, or the environment has no room: then it is the engine as it is. */
function startAgain(env: Record<string, string>): void {
  const given = givenDescriptors();
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
function givenDescriptors(): number[] {
  const names = readdirSync("/proc/self/fd").filter((name) => Number(name) > 2);
  return names.filter((name) => !isOfEngine(`/proc/self/fd/${name}`)).map(Number);
}

function isOfEngine(link: string): boolean {
  try {
    return readlinkSync(link).startsWith("anon_inode:");
  } catch {
    return true; // the directory that was just read
  }
}
