// A session with a short way to run commands in it.

import type { RunParams, RunResult } from "../../src/protocol/exec.ts";
import type { CreateParams } from "../../src/protocol/session.ts";
import { isFast } from "./requirements.ts";
import { shellFor } from "./shells.ts";
import type { Wire } from "./wire.ts";

export type Runner = (
  command: string,
  params?: Omit<RunParams, "session_id" | "command">,
) => Promise<RunResult>;

export interface TestSession {
  id: string;
  run: Runner;
  /** Trimmed stdout of a command that must succeed. */
  out: (command: string, params?: Omit<RunParams, "session_id" | "command">) => Promise<string>;
}

export async function newSession(wire: Wire, params: CreateParams = {}): Promise<TestSession> {
  const shell = params.shell && shellFor(params.shell);
  const { session_id: id } = await wire.call("session.create", { ...params, ...(shell ? { shell } : {}) });
  const run: Runner = (command, more = {}) => wire.call("exec.run", { session_id: id, command, ...more });
  return {
    id,
    run,
    async out(command, more) {
      const result = await run(command, more);
      if (result.exit_code !== 0) throw new Error(`${command}: exit ${result.exit_code}\n${result.stderr}`);
      return result.stdout.replace(/\n$/, "");
    },
  };
}

/** The error where the first shell of a session cannot start. Without warm shells its first command starts that shell. */
export async function failToStartShell(wire: Wire): ReturnType<Wire["fail"]> {
  if (isFast("warm-shells")) return await wire.fail("session.create", {});
  const { session_id } = await wire.call("session.create", {});
  const error = await wire.fail("exec.run", { session_id, command: "x=1" });
  await wire.call("session.destroy", { session_id });
  return error;
}
