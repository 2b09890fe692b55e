// Finds the tools that this machine has for comparisons. Rows of missing tools stay in the table, with the reason.
import { join } from "node:path";

const nativeNames = ["spawn", "talk", "echo", "start", "flood"] as const;
type NativeName = (typeof nativeNames)[number];

/** A program to start, or why there is none. */
export type Tool = { command: string[] } | { missing: string };

export interface Tools {
  native: Record<NativeName, Tool>;
  /** The measuring client: the C program, or the same thing over Bun's sockets. */
  talk: string[];
  /** Starts daemons and waits until they accept; in the same language. */
  start: string[];
  clientIs: "C" | "Bun";
  tmux: Tool;
  python: Tool;
  node: Tool;
  bash: Tool;
  /** Puts a program on one core: whether a wake-up crosses cores makes more difference than what it does. */
  pinned: string[];
}

const nativeDir = join(import.meta.dir, "../native");
export const sidesDir = join(import.meta.dir, "../sides");

export function findTools(dir: string): Tools {
  const native = compileAll(dir);
  const { talk, start } = native;
  const inBun = (file: string) => [process.execPath, join(sidesDir, file)];
  return {
    native,
    talk: "command" in talk ? talk.command : inBun("talk.ts"),
    start: "command" in start ? start.command : inBun("start.ts"),
    clientIs: "command" in talk ? "C" : "Bun",
    tmux: onPath("tmux"),
    python: onPath("python3"),
    node: onPath("node"),
    bash: onPath("bash"),
    pinned: Bun.which("taskset") ? ["taskset", "-c", "0"] : [],
  };
}

function onPath(name: string): Tool {
  const path = Bun.which(name);
  return path ? { command: [path] } : { missing: `${name} is not installed` };
}

function compileAll(dir: string): Record<NativeName, Tool> {
  const compiled = nativeNames.map((name) => [name, compile(name, dir)] as const);
  return Object.fromEntries(compiled) as Record<NativeName, Tool>;
}

function compile(name: NativeName, dir: string): Tool {
  const compiler = Bun.which("cc");
  if (!compiler) return { missing: "cc is not installed" };
  const program = join(dir, name);
  const { success, stderr } = Bun.spawnSync([compiler, "-O2", "-o", program, join(nativeDir, `${name}.c`)]);
  return success ? { command: [program] } : { missing: `cc failed: ${stderr.toString().split("\n")[0]}` };
}

export const missingTools = (tools: Tools): string[] => {
  const all = [...Object.values(tools.native), tools.tmux, tools.python, tools.node, tools.bash];
  return [...new Set(all.flatMap((tool) => ("missing" in tool ? [tool.missing] : [])))];
};
