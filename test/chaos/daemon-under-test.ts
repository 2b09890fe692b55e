// What a daemon holds of the machine, seen from outside: descriptors, processes, files, control groups, memory.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { cgroupsOf } from "../support/isolation.ts";
import { residentBytes } from "../support/processes.ts";
import { until } from "../support/wait.ts";

export interface Holdings {
  descriptors: string[];
  processes: string[];
  files: string[];
  cgroups: string[];
}

interface UpgradeServices {
  pid: number;
  dir: string;
}

export function holdingsOf({ pid, dir }: UpgradeServices): Holdings {
  return {
    descriptors: descriptorsOf(pid),
    processes: processesOf(pid, dir),
    files: filesIn(dir),
    cgroups: cgroupsOf(pid),
  };
}

/** Nothing more than before; what goes on ending is given the time to. */
export async function leftSince(before: Holdings, house: UpgradeServices): Promise<string[]> {
  const more = () => {
    const now = holdingsOf(house);
    return (Object.keys(before) as (keyof Holdings)[]).flatMap((kind) =>
      without(now[kind], before[kind]).map((thing) => `${kind}: ${thing}`),
    );
  };
  await until("what was before", () => more().length === 0, patienceMs).catch(() => {});
  return more();
}

const patienceMs = 15_000;

/** Each as often as it is there more often. */
function without(things: string[], others: string[]): string[] {
  const left = [...others];
  return things.filter((thing) => {
    const at = left.indexOf(thing);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
}

function descriptorsOf(pid: number): string[] {
  return entriesOf(`/proc/${pid}/fd`)
    .flatMap((fd) => orNothing(() => readlinkSync(`/proc/${pid}/fd/${fd}`)))
    .map((target) => target.replace(/:\[\d+\]$/, ""))
    .sort();
}

/** Whatever has the daemon's home in its environment, and children of the daemon that nobody has buried. */
function processesOf(daemonPid: number, home: string): string[] {
  const isNumber = (name: string) => /^\d+$/.test(name);
  return entriesOf("/proc")
    .filter((pid) => isNumber(pid) && Number(pid) !== daemonPid)
    .filter((pid) => {
      const [environment] = orNothing(() => readFileSync(`/proc/${pid}/environ`, "latin1"));
      const [stat] = orNothing(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
      const [, state, parent] = /\) (\S) (\d+) /.exec(stat ?? "") ?? [];
      return (
        environment?.split("\0").includes(`HOME=${home}`) || (state === "Z" && Number(parent) === daemonPid)
      );
    })
    .map(
      (pid) =>
        orNothing(() => readFileSync(`/proc/${pid}/cmdline`, "latin1"))[0]?.replaceAll("\0", " ") ?? "?",
    );
}

function filesIn(dir: string): string[] {
  return [...new Bun.Glob("**/*").scanSync({ cwd: dir, dot: true, onlyFiles: false })].sort();
}

const entriesOf = (directory: string): string[] => orNothing(() => readdirSync(directory)).flat();

/** What is looked at may be gone by then. */
function orNothing<T>(look: () => T): T[] {
  try {
    return [look()];
  } catch {
    return [];
  }
}

export const memoryOf = (pid: number): number => orNothing(() => residentBytes(pid))[0] ?? 0;

/** After the end only the token is there, for the next one. */
export function leftAfterEnd({ pid, dir }: UpgradeServices): string[] {
  const { processes, files, cgroups } = holdingsOf({ pid, dir });
  const others = files.filter((file) => !["trl.token", "daemons", "run"].includes(file));
  return [...processes, ...others.map((file) => join(dir, file)), ...cgroups];
}
