// A command and its surroundings, as a session's shell is given them.

import { type ByteString, bytesOf, fromText } from "../../process/byte-string.ts";
import { type EnvOverrides, oddVariables, shellOverrides } from "../../process/environment.ts";
import type { SessionPaths } from "../session-paths.ts";
import type { CommandFeed, ShellDialect, ShellState } from "../shell/dialect.ts";
import type { LaunchRequest } from "./runner.ts";
import type { WarmShell } from "./warm-shell.ts";

/** `given` is the directory of the request, where it has one. */
export function feedFor(
  request: LaunchRequest,
  given: string | undefined,
  state: ShellState,
  dialect: ShellDialect,
): CommandFeed {
  const { functions, others } = oddNames(request.env, dialect);
  return {
    commandId: request.commandId,
    command: fromText(request.command),
    state,
    workingDir: given ? fromText(given) : state.workingDir,
    place: "elsewhere",
    env: shellOverrides(request.env),
    hasStdin: request.wantsStdin,
    functions,
    mayImportFunctions: functions.length + others.length > 0,
  };
}

interface OddNames {
  functions: CommandFeed["functions"];
  /** Only the environment that a shell is started with can carry them. */
  others: [name: string, value: string | null][];
}

/** What a command is given under names that are no variables. */
export function oddNames(env: EnvOverrides, { functionIn }: ShellDialect): OddNames {
  const functions: CommandFeed["functions"] = [];
  const others = oddVariables(env).filter(([variable, value]) => {
    const name = value === null ? undefined : functionIn?.(variable, value);
    if (name !== undefined) functions.push([name, fromText(value!)]);
    return name === undefined;
  });
  return { functions, others };
}

/** For this shell, which has been given that state. */
export function feedForShell(
  feed: CommandFeed,
  state: ShellState,
  places: SessionPaths,
  shell: WarmShell,
): CommandFeed {
  const isGiven = feed.workingDir !== state.workingDir;
  if (!isGiven && shell.waitsIn(state.workingDir)) return { ...feed, state, place: "here" };
  const isThere = isGiven || places.isDirectory(bytesOf(state.workingDir));
  if (isThere) return { ...feed, state, place: "elsewhere" };
  return { ...feed, state, place: "gone", existingParent: existingParent(state.workingDir, places) };
}

function existingParent(path: ByteString, places: SessionPaths): ByteString {
  const parent = path.slice(0, path.lastIndexOf("/"));
  if (parent === "") return "/";
  return places.isDirectory(bytesOf(parent)) ? parent : existingParent(parent, places);
}
