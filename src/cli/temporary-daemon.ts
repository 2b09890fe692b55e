// A daemon for the moment: its own socket in its own directory, and an end that comes with ours, however we end,
// because it holds the other end of a pipe. The directory goes with whichever of us ends last.
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
    detached: true, // a ^C at the terminal is ours to handle
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

/** As long as the name of a socket below a base gets: a pid has up to seven digits. */
const longestName = "trl-1234567-xxxxxx/trl.sock";

/** Where sandboxes do not see it, if possible; in /tmp one without a /tmp of its own would. */
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
      why = error; // not there, not ours, or full: the next one
    }
  }
  throw why;
}
