// A daemon for the moment: its own socket in its own directory, and an end that comes with ours, however we end,
// because it holds the other end of a pipe. The directory goes with whichever of us ends last.
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeOwnDir } from "../util/abandoned-dirs.ts";
import { untrustedPart } from "../util/trusted-socket.ts";
import type { DaemonClient } from "./client.ts";
import { CliError, unavailableExitCode } from "./errors.ts";
import { ownProgram, untilListening } from "./own-program.ts";

export interface PrivateDaemon extends AsyncDisposable {
  client: DaemonClient;
}

export async function startPrivateDaemon(): Promise<PrivateDaemon> {
  const dir = makeOwnDir(trustedTmpDir());
  const socketPath = join(dir, "trl.sock");
  const child = Bun.spawn([...ownProgram(), "serve", "--socket-path", socketPath, "--allow-root"], {
    env: { ...process.env, TRL_LIFELINE: "stdin" },
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

/** In some containers /tmp is a volume without the sticky bit; where /dev/shm is there, it has one. */
function trustedTmpDir(): string {
  const usual = tmpdir();
  const untrusted = untrustedPart(usual, process.env);
  if (!untrusted) return usual;
  const other = [process.env["XDG_RUNTIME_DIR"], "/dev/shm"].find(isTrustedDir);
  if (other !== undefined) return other;
  const remedy = "set $TMPDIR to a directory of your own, or see TRL_TRUSTED_DIRS";
  throw new CliError(untrusted.problem, unavailableExitCode, remedy);
}

function isTrustedDir(path: string | undefined): boolean {
  try {
    return path !== undefined && untrustedPart(path, process.env) === undefined;
  } catch {
    return false; // it does not exist
  }
}
