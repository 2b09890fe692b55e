// Checks the limits on open files and processes.
import { type Check, type Finding, note, ok, problem } from "./check.ts";

export interface Limits {
  /** Infinity if unlimited. */
  openFiles: number;
  processes: number;
}

/** A session and a terminal take a handful of descriptors each; the daemon refuses new ones at 80 %. */
const filesMin = 256;
const filesWanted = 1024;
const processesWanted = 512;

export const limitChecks = (read: () => Limits | Promise<Limits>): Check[] => [
  { id: "open-files", group: "limits", run: async () => checkFiles((await read()).openFiles) },
  { id: "processes", group: "limits", run: async () => checkProcesses((await read()).processes) },
];

const countText = (count: number) =>
  count === Number.POSITIVE_INFINITY ? "no limit" : count.toLocaleString("en-US");

function checkFiles(count: number): Finding {
  const summary = `open files: ${countText(count)}`;
  if (count >= filesWanted) return ok(summary);
  const more = {
    detail: "each session and terminal takes some",
    remedy: `ulimit -n ${filesWanted}, or more`,
  };
  return count < filesMin ? problem(summary, more) : note(summary, more);
}

function checkProcesses(count: number): Finding {
  const summary = `processes of this user: ${countText(count)}`;
  if (count >= processesWanted) return ok(summary);
  const detail = "all programs of this user share them";
  return note(summary, { detail, remedy: `ulimit -u ${processesWanted}, or more` });
}
