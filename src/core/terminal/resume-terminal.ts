// A terminal that goes on while the program that made it becomes another.
import type { Unpacking } from "../../upgrade/schema/fields.ts";
import type { TerminalState } from "../../upgrade/schema/terminals.ts";
import type { SessionIsolation } from "../isolation/session-isolation.ts";
import { drivers } from "./create-terminal.ts";
import type { PtySpec } from "./drivers/driver.ts";
import type { TerminalSpec } from "./start-program.ts";
import { Terminal } from "./terminal.ts";

export function resumeTerminal(
  state: TerminalState,
  given: Unpacking,
  sessionIsolation: SessionIsolation | undefined,
  {
    readsDirectly,
    ...context
  }: Pick<TerminalSpec, "ownership" | "screens" | "mayKeep"> & Pick<PtySpec, "readsDirectly">,
): Terminal {
  const { id, name, shell, command, driver, workingDir, idleTimeoutS, maxAgeS, env, size } = state;
  return new Terminal({
    ...{ id, name, shell, command, workingDir, idleTimeoutS, maxAgeS, sessionIsolation, ...context },
    driver: drivers[driver],
    pty: { argv: [shell], env, daemonVariables: [], workingDir, readsDirectly, ...size },
    before: { state, given },
  });
}
