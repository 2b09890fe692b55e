// The command-line prefix that starts a program within its limits: an sh that joins the session's control group, sets
// the resource limits and execs the program, so that the program never runs outside of them.

export interface Rlimits {
  cpuTimeS?: number;
  openFiles?: number;
  fileSizeBytes?: number;
}

/** A process that ignores SIGXCPU is killed this much later. */
const cpuGraceS = 1;

/** The unit of `ulimit -f` in POSIX. */
const fileBlockBytes = 512;

/** The exit code of the sh if a limit cannot be set. The program is not started then. */
export const launchFailure = 125;

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** To be put before the program's argv. Empty if there is no limit. */
export function launchPrefix(entrances: string[], rlimits: Rlimits): string[] {
  const steps = [...entrances.map((file) => `echo 0 >${quote(file)}`), ...ulimits(rlimits)];
  if (steps.length === 0) return [];
  const script = `{ ${steps.join(" && ")}; } || exit ${launchFailure}; exec "$@"`;
  return ["/bin/sh", "-c", script, "trl"];
}

function ulimits({ cpuTimeS, openFiles, fileSizeBytes }: Rlimits): string[] {
  const steps: string[] = [];
  if (cpuTimeS !== undefined) {
    const soft = Math.ceil(cpuTimeS);
    steps.push(`ulimit -S -t ${soft}`, `ulimit -H -t ${soft + cpuGraceS}`);
  }
  if (openFiles !== undefined) steps.push(`ulimit -S -n ${openFiles}`, `ulimit -H -n ${openFiles}`);
  if (fileSizeBytes !== undefined) {
    const blocks = Math.ceil(fileSizeBytes / fileBlockBytes);
    steps.push(`ulimit -S -f ${blocks}`, `ulimit -H -f ${blocks}`);
  }
  return steps;
}
