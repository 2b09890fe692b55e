// Builds what a shell needs to run a command: its text, directory, variables and functions.

import { type ByteString, bytesOf, fromText } from "../../process/byte-string.ts";
import { type EnvOverrides, oddVariables, shellOverrides } from "../../process/environment.ts";
import type { SessionPaths } from "../session-paths.ts";
import type { CommandFeed, ShellDialect, ShellState } from "../shell/dialect.ts";
import type { LaunchRequest } from "./runner.ts";
import type { SessionShell } from "./session-shell.ts";

/** `requestDir` is the directory of the request, where it has one. */
export function feedFor(
  request: LaunchRequest,
  requestDir: string | undefined,
  state: ShellState,
  dialect: ShellDialect,
): CommandFeed {
  const { functions, others } = oddNames(request.env, dialect);
  return {
    commandId: request.commandId,
    command: fromText(request.command),
    state,
    workingDir: requestDir ? fromText(requestDir) : state.workingDir,
    place: "elsewhere",
    env: shellOverrides(request.env),
    hasStdin: request.wantsStdin,
    functions,
    mayImportFunctions: functions.length + others.length > 0,
  };
}

interface OddNames {
  functions: CommandFeed["functions"];
  /** Variables that a shell can only get through the environment that it is started with. */
  others: [name: string, value: string | null][];
}

/** Variables of a request with names that are not identifiers: exported functions, and the rest. */
export function oddNames(env: EnvOverrides, { functionIn }: ShellDialect): OddNames {
  const functions: CommandFeed["functions"] = [];
  const others = oddVariables(env).filter(([variable, value]) => {
    const name = value === null ? undefined : functionIn?.(variable, value);
    if (name !== undefined) functions.push([name, fromText(value!)]);
    return name === undefined;
  });
  return { functions, others };
}

/** The feed with what depends on the shell that was fed `state`: how it gets to the command's directory. */
export function feedForShell(
  feed: CommandFeed,
  state: ShellState,
  paths: SessionPaths,
  shell: SessionShell,
): CommandFeed {
  const isOtherDir = feed.workingDir !== state.workingDir;
  if (!isOtherDir && shell.isIn(state.workingDir)) return { ...feed, state, place: "here" };
  const exists = isOtherDir || paths.isDirectory(bytesOf(state.workingDir));
  if (exists) return { ...feed, state, place: "elsewhere" };
  return { ...feed, state, place: "gone", existingParent: existingParent(state.workingDir, paths) };
}

function existingParent(path: ByteString, paths: SessionPaths): ByteString {
  const parent = path.slice(0, path.lastIndexOf("/"));
  if (parent === "") return "/";
  return paths.isDirectory(bytesOf(parent)) ? parent : existingParent(parent, paths);
}
