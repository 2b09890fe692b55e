// What a page says was printed, against what was printed: ids, pids, dates, timings and versions differ, all else must not.

/** Ids by the order in which they were first seen: two transcripts of the same events give the same labels. */
class Labels {
  readonly #byId = new Map<string, string>();

  labelOf(id: string): string {
    const known = this.#byId.get(id);
    if (known) return known;
    const label = `${id.slice(0, 2)}<${this.#byId.size + 1}>`;
    this.#byId.set(id, label);
    return label;
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  idOf(label: string): string | undefined {
    for (const [id, other] of this.#byId) if (other === label) return id;
    return undefined;
  }
}

const id = /\b[sx]-[0-9a-f]{8,}\b/g;

/** One page's account of events beside the events themselves. */
export class Transcript {
  readonly #told = new Labels();
  readonly #seen = new Labels();

  /** Both without what may differ. They are the same where the page tells the truth. */
  compare(told: string, seen: string): { told: string; seen: string } {
    return { told: normalise(told, this.#told), seen: normalise(seen, this.#seen) };
  }

  /** A command of the page, with the ids that are good here. */
  translate(command: string): string {
    return command.replace(id, (told) => {
      const seen = this.#told.has(told) && this.#seen.idOf(this.#told.labelOf(told));
      if (!seen) throw new Error(`the page uses ${told}, which none of its outputs has shown`);
      return seen;
    });
  }
}

const volatileNumbers = [
  "bytes_in",
  "bytes_out",
  "connections_total",
  "duration_ms",
  "durationMs",
  "cpu_ms",
  "memory_rss_bytes",
  "open_fds",
  "pending_bytes",
  "pid",
  "uptime_s",
];
const volatileRows = [
  "total commands run",
  "uptime s",
  "memory rss bytes",
  "open fds",
  "connections total",
  "bytes in",
  "bytes out",
  "pid",
];

const rules: [RegExp, string][] = [
  // JSON, and how Python prints the same
  [new RegExp(`(["'](?:${volatileNumbers.join("|")})["']: ?)\\d+(?:\\.\\d+)?`, "g"), "$1<n>"],
  // of a command that runs: how far it has come
  [
    /(["']state["']: ?["']running["'].*["']stdout_bytes["']: ?)\d+(, ?["']stderr_bytes["']: ?)\d+/g,
    "$1<n>$2<n>",
  ],
  // of what a killed daemon had left: a shell that waited for its next command may be just about to end
  [/("message":"ended what a killed daemon had left","processes":)\d+/g, "$1<n>"],
  // of a leftover process: on a busy machine the child of the shell has not begun its program yet
  [/(\{'pid': <n>, 'command': ')(?:python3 -m http\.server \d+|\/bin\/bash \(subshell\))/g, "$1python3"],
  // of a screen: how a shell draws its prompt is its own business
  [/(["']alternate_screen["']: ?\w+, ?["']offset["']: ?)\d+/g, "$1<n>"],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<date>"],
  [/(?<![\d.])\d+\.\d+\.\d+(?![\d.])/g, "<version>"],
  [/(?:\/usr)?\/bin\/(bash|zsh|sh)\b/g, "/bin/$1"],
  // trl stats, trl ping, trl doctor
  [new RegExp(`^(${volatileRows.join("|")})  +[\\d,]+$`, "gm"), "$1  <n>"],
  [/\bpid \d+/g, "pid <n>"],
  [/stopped after [\d.]+ s/g, "stopped after <n> s"],
  [/up \d+ s, answered in [\d.]+ ms/g, "up <n> s, answered in <n> ms"],
  // trl ls: AGE, PID
  [/^(\S+ +\S+ +(?:exec|pty) +[A-Za-z]+(?: \d+)? +)\d+s( +)/gm, "$1<age>$2"],
  [/^(\S+ +\S+ +pty +.*<age> +)\d+/gm, "$1<pid>"],
  // trl ps, trl top: PID, ELAPSED; how a shell draws its prompt, as above
  [/^(\S+ +\S+ +(?:pty|run|stream) +)\d+( +(?:[A-Za-z]+(?: \d+)? +)?)\d+s( +)/gm, "$1<pid>$2<age>$3"],
  [/^(\S+ +\S+ +pty +<pid>.*<age> +)\d+ B/gm, "$1<n> B"],
  [/^(trl \S+ {2}up )\d+s(.* {2})\d+ MB {2}[\d.]+ \w+\/s$/gm, "$1<age>$2<n> MB  <n> B/s"],
  // columns are as wide as what is in them
  [/(?<=\S) {2,}/g, "  "],
  [/ +$/gm, ""],
];

function normalise(text: string, labels: Labels): string {
  let result = text;
  for (const [pattern, replacement] of rules) result = result.replace(pattern, replacement);
  return mergeFrames(result.replace(id, (found) => labels.labelOf(found))).trimEnd();
}

/** A busy machine may print in one frame what an idle one prints in two. */
function mergeFrames(text: string): string {
  const frame =
    /^(.*["']type["']: ?["']std(?:out|err)["'], ?["']data["']: ?["'])(.*)(["'], ?["']offset["']: ?\d+\})$/;
  const merged: string[] = [];
  for (const line of text.split("\n")) {
    const [, head, data, tail] = frame.exec(line) ?? [];
    const before = frame.exec(merged.at(-1) ?? "");
    if (head !== undefined && before?.[1] === head)
      merged[merged.length - 1] = `${head}${before[2]}${data}${before[3]}`;
    else merged.push(head === undefined ? line : `${head}${data}${tail}`);
  }
  return merged.join("\n");
}
