// A command and its surroundings, as a session's shell is given them.
import { oddNames, shellOverrides } from "./environment.ts";
import type { LaunchRequest } from "./executor.ts";
import type { Places } from "./places.ts";
import type { PreparedShell } from "./prepared-shell.ts";
import { bytesOf, fromText } from "./shell/byte-string.ts";
import type { CommandFeed, ShellState } from "./shell/dialect.ts";

/** For whoever starts it; `given` is the directory that was asked for. */
export function feedFor(request: LaunchRequest, given: string | undefined, state: ShellState): CommandFeed {
  return {
    commandId: request.commandId,
    command: fromText(request.command),
    state,
    workingDir: given ? fromText(given) : state.workingDir,
    place: "elsewhere",
    env: shellOverrides(request.env),
    hasStdin: request.wantsStdin,
    mayImportFunctions: oddNames(request.env).length > 0,
  };
}

/** For this shell, which has been given that state. */
export function feedForShell(
  feed: CommandFeed,
  state: ShellState,
  places: Places,
  shell: PreparedShell,
): CommandFeed {
  const isGiven = feed.workingDir !== state.workingDir;
  if (!isGiven && shell.waitsIn(state.workingDir)) return { ...feed, state, place: "here" };
  const isThere = isGiven || places.isDirectory(bytesOf(state.workingDir));
  return { ...feed, state, place: isThere ? "elsewhere" : "gone" };
}
