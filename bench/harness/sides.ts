// The sides that scenarios compare: the measuring client at a daemon's socket, and its floors and peers.
import { join } from "node:path";
import type { Bench } from "./scenario.ts";
import { Side } from "./side.ts";
import { sidesDir, type Tool } from "./tools.ts";

export interface TalkSpec {
  socketPath: string;
  /** One connection each, all busy at a time. */
  lines: string[];
  /** So many connections share the lines: each says every so-many-th of them in turn. */
  peers?: number;
  until: string;
  hello?: { line: string; until: string };
  /** So many connections watch, the first of them speaks, and all must see the mark. */
  watchers?: number;
  /** The mark comes last, and is looked for only there: what comes before is a flood. */
  isAtEnd?: boolean;
  /** Prefix of the client's command line. */
  prefix?: string[];
}

export const talk = ({ tools }: Bench, spec: TalkSpec): Promise<Side> =>
  Side.start([...(spec.prefix ?? []), ...tools.talk, "-s", spec.socketPath, ...talkFlags(spec)]);

/** The same client, with a program's standard input and output in place of the socket. */
export const talkToProgram = (
  { tools }: Bench,
  command: string[],
  spec: Omit<TalkSpec, "socketPath">,
): Promise<Side> => Side.start([...tools.talk, "-c", ...talkFlags(spec), "--", ...command]);

const talkFlags = (spec: Omit<TalkSpec, "socketPath">): string[] => [
  ...["-u", spec.until],
  ...(spec.hello ? ["-h", spec.hello.line.trimEnd(), "-r", spec.hello.until] : []),
  ...(spec.watchers ? ["-n", `${spec.watchers}`] : []),
  ...(spec.peers ? ["-k", `${spec.peers}`] : []),
  ...(spec.isAtEnd ? ["-e"] : []),
  ...spec.lines.flatMap((line) => ["-l", line.trimEnd()]),
];

/** A bare spawn by the C program, by so many workers at a time. */
export const spawnSide = (bench: Bench, command: string[], workers = 1): Promise<Side> | undefined =>
  spawnInTurnSide(bench, [command], workers);

/** The same with several commands in turn. */
export const spawnInTurnSide = (
  { tools }: Bench,
  commands: string[][],
  workers: number,
): Promise<Side> | undefined =>
  started(tools.native.spawn, [`${workers}`, ...commands.flatMap((command) => ["+", ...command]).slice(1)]);

/** A bare reader of a terminal in which the command prints. */
export const floodSide = ({ tools }: Bench, command: string[]): Promise<Side> | undefined =>
  started(tools.native.flood, command);

export const pythonSide = ({ tools }: Bench, command: string[]): Promise<Side> | undefined =>
  started(tools.python, [join(sidesDir, "spawn.py"), ...command]);

export const nodeSide = ({ tools }: Bench, command: string[]): Promise<Side> | undefined =>
  started(tools.node, [join(sidesDir, "spawn.mjs"), ...command]);

function started(tool: Tool, args: string[]): Promise<Side> | undefined {
  return "command" in tool ? Side.start([...tool.command, ...args]) : undefined;
}

/** What a row says of the other side. */
export const besideOf = <Figure>(name: string, tool: Tool, figure: Figure | undefined) =>
  "missing" in tool || figure === undefined
    ? { name, missing: "missing" in tool ? tool.missing : "not measured" }
    : { name, figure };
