// A temporary daemon with a socket in a private directory. It reads a pipe from this process and exits at its EOF, so
// it also ends when this process is killed. The process that exits last removes the directory.
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeOwnDir } from "../platform/abandoned-dirs.ts";
import { isPathTooLong } from "../util/socket-path.ts";
import { untrustedPart } from "../util/trusted-socket.ts";
import type { DaemonClient } from "./client.ts";
import { engineSettings } from "./engine-environment.ts";
import { CliError, unavailableExitCode } from "./errors.ts";
import { ownProgram, untilListening } from "./own-program.ts";

export interface TemporaryDaemon extends AsyncDisposable {
  client: DaemonClient;
}

export async function startTemporaryDaemon(): Promise<TemporaryDaemon> {
  const settings = await engineSettings({ endsWithCaller: true });
  const dir = makeDir();
  const socketPath = join(dir, "trl.sock");
  const child = Bun.spawn([...ownProgram(), "serve", "--socket-path", socketPath, "--allow-root"], {
    env: { ...settings, ...process.env, TRL_LIFELINE: "stdin" },
    stdio: ["pipe", "ignore", "ignore"],
    detached: true, // own process group: ^C reaches only this process, which handles it
  });
  const end = async () => {
    child.stdin.end();
    await child.exited;
    rmSync(dir, { recursive: true, force: true });
  };
  const endWith = async (client: DaemonClient) => {
    client[Symbol.dispose]();
    await end();
  };
  try {
    const client = await untilListening(child, socketPath);
    return { client, [Symbol.asyncDispose]: () => endWith(client) };
  } catch (error) {
    await end();
    throw error;
  }
}

/** Longest possible name below the base directory: a pid has up to seven digits. */
const longestName = "trl-1234567-xxxxxx/trl.sock";

/** Prefers directories that sandboxes do not see. /tmp is visible in a sandbox without a private /tmp. */
function makeDir(): string {
  const { XDG_RUNTIME_DIR } = process.env;
  const inMemory = process.platform === "linux" ? ["/dev/shm"] : [];
  let why: unknown;
  for (const base of [
    ...(XDG_RUNTIME_DIR?.startsWith("/") ? [XDG_RUNTIME_DIR] : []),
    ...inMemory,
    tmpdir(),
  ]) {
    if (isPathTooLong(join(base, longestName))) {
      why ??= new CliError(
        `the path of a socket in ${base} would be too long`,
        unavailableExitCode,
        "set TMPDIR to a shorter path",
      );
      continue;
    }
    try {
      const untrusted = untrustedPart(base, process.env);
      if (untrusted) throw new CliError(untrusted.problem, unavailableExitCode, untrusted.remedy);
      return makeOwnDir(base);
    } catch (error) {
      why = error; // missing, not owned by this user, or full: try the next one
    }
  }
  throw why;
}
