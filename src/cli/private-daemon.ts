// A daemon for the moment: its own socket in its own directory, and an end that comes with ours, however we end,
// because it holds the other end of a pipe.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TrlClient } from "../client/client.ts";
import { tryConnect } from "./connection.ts";
import { CliError, unavailableExitCode } from "./errors.ts";

const startPatienceMs = 5000;

export interface PrivateDaemon extends AsyncDisposable {
  client: TrlClient;
}

export async function startPrivateDaemon(): Promise<PrivateDaemon> {
  const dir = mkdtempSync(join(tmpdir(), "trl-run-"));
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
  const endWith = async (client: TrlClient) => {
    client[Symbol.dispose]();
    await end();
  };
  const deadline = performance.now() + startPatienceMs;
  while (performance.now() < deadline && child.exitCode === null) {
    const client = await tryConnect(socketPath);
    if (client) return { client, [Symbol.asyncDispose]: () => endWith(client) };
    await Bun.sleep(2);
  }
  await end();
  throw new CliError(
    "a daemon could not be started",
    unavailableExitCode,
    "see why with: trl serve --verbose",
  );
}

/** The compiled executable is the program; from source, Bun runs the entry file. */
function ownProgram(): string[] {
  const isCompiled = Bun.main.startsWith("/$bunfs/");
  return isCompiled ? [process.execPath] : [process.execPath, Bun.main];
}
