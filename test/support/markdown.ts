// The examples of a Markdown page: what is typed, and what the page says comes of it.

export interface Fence {
  /** The word after the backticks; "" where there is none. */
  language: string;
  text: string;
  /** Of the opening backticks, from 1. */
  line: number;
}

export interface Step {
  command: string;
  /** Lines, each with its end; "" where nothing is printed. */
  output: string;
}

/** Complete: it is run, and prints this. */
export interface Program {
  language: "python" | "js";
  code: string;
  output: string;
}

export type Example = { line: number; startsAnew: boolean } & (
  | { kind: "console"; steps: Step[] }
  | ({ kind: "program" } & Program)
  /** TypeScript, or JavaScript without an output: a part of a program. */
  | { kind: "fragment"; language: "ts" | "js"; code: string }
  | { kind: "wire" | "json"; text: string }
  /** Nothing that could be run: the list of a test says why. */
  | { kind: "text"; language: string; text: string }
);

/** Where the prose before an example has these words, the page does not go on with the daemon it had. */
const freshDaemon = "daemon that was just started";

export function fencesOf(markdown: string): Fence[] {
  const fences: Fence[] = [];
  let open: Fence | undefined;
  let indent = "";
  for (const [index, line] of markdown.split("\n").entries()) {
    const mark = /^( *)```(\w*)$/.exec(line);
    if (!mark) {
      if (open) open.text += `${line.startsWith(indent) ? line.slice(indent.length) : line}\n`;
    } else if (open) {
      fences.push(open);
      open = undefined;
    } else {
      indent = mark[1]!;
      open = { language: mark[2]!, text: "", line: index + 1 };
    }
  }
  if (open) throw new Error(`the block in line ${open.line} has no end`);
  return fences;
}

export function examplesOf(markdown: string): Example[] {
  const fences = fencesOf(markdown);
  const lines = markdown.split("\n");
  const examples: Example[] = [];
  let proseStart = 0;
  for (let i = 0; i < fences.length; i++) {
    const { language, text, line } = fences[i]!;
    const prose = lines.slice(proseStart, line - 1).join("\n");
    const place = { line, startsAnew: prose.includes(freshDaemon) };
    proseStart = endOf(fences[i]!);
    const next = fences[i + 1];
    const hasOutput = next?.language === "" && isBlank(lines.slice(proseStart, next.line - 1));
    if (language === "python" || (language === "js" && hasOutput)) {
      const output = hasOutput ? fences[++i]!.text : "";
      examples.push({ ...place, kind: "program", language, code: text, output });
    } else if (language === "ts" || language === "js")
      examples.push({ ...place, kind: "fragment", language, code: text });
    else if (language === "console") examples.push({ ...place, kind: "console", steps: stepsOf(text, line) });
    else if (language === "json") examples.push({ ...place, kind: "json", text });
    else if (language === "" && /^[<>] \{/.test(text)) examples.push({ ...place, kind: "wire", text });
    else examples.push({ ...place, kind: "text", language, text });
  }
  return examples;
}

/** The index of the line after it. */
const endOf = ({ line, text }: Fence) => line + text.split("\n").length;

const isBlank = (lines: string[]) => lines.every((line) => line.trim() === "");

/** `$ ` begins a command and `> ` continues it, as a shell shows them; all else is output. */
function stepsOf(text: string, line: number): Step[] {
  const steps: Step[] = [];
  for (const row of text.split("\n").slice(0, -1)) {
    const step = steps.at(-1);
    if (row.startsWith("$ ")) steps.push({ command: row.slice(2), output: "" });
    else if (!step) throw new Error(`the block in line ${line} begins with output`);
    else if (row.startsWith("> ") && step.output === "") step.command += `\n${row.slice(2)}`;
    else step.output += `${row}\n`;
  }
  return steps;
}
