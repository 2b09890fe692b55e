// A command and its surroundings, as a session's shell is given them.
import { oddNames, shellOverrides } from "./environment.ts";
import type { LaunchRequest } from "./executor.ts";
import type { Places } from "./places.ts";
import type { PreparedShell } from "./prepared-shell.ts";
import { bytesOf, fromText } from "./shell/byte-string.ts";
import type { CommandFeed, ShellState } from "./shell/dialect.ts";

/** `given` is the directory that was asked for; without a shell none waits where the command is to run. */
export function feedFor(
  request: LaunchRequest,
  given: string | undefined,
  state: ShellState,
  places: Places,
  shell?: PreparedShell,
): CommandFeed {
  const isHere = !given && shell?.waitsIn(state.workingDir) === true;
  return {
    commandId: request.commandId,
    command: fromText(request.command),
    state,
    workingDir: given ? fromText(given) : state.workingDir,
    place: isHere ? "here" : given || places.isDirectory(bytesOf(state.workingDir)) ? "elsewhere" : "gone",
    env: shellOverrides(request.env),
    hasStdin: request.wantsStdin,
    mayImportFunctions: oddNames(request.env).length > 0,
  };
}
