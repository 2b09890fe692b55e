// How a program is started within its limits: by a small sh that enters the session's control group, sets what is
// inherited, and becomes the program. So nothing of the program's runs outside, not even for a moment.

export interface Rlimits {
  cpuTimeS?: number;
  openFiles?: number;
  fileSizeBytes?: number;
}

/** A process that goes on after SIGXCPU is killed so many seconds later. */
const cpuGraceS = 1;

/** POSIX counts files by such blocks. */
const fileBlockBytes = 512;

/** What the sh that could not set up the limits exits with; the program has not been started then. */
export const launchFailure = 125;

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** In front of the program's own words. Empty where there is nothing to be done. */
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
