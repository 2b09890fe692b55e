// Connects to the daemon, or starts one in the background that outlives this process and its terminal.
import type { DaemonClient } from "./client.ts";
import { type SocketFlags, serveFlagsFrom, socketPathFrom, tryConnect } from "./connection.ts";
import { engineSettings } from "./engine-environment.ts";
import { ownProgram, untilListening } from "./own-program.ts";

export async function connectOrStart(given: SocketFlags): Promise<DaemonClient> {
  const socketPath = socketPathFrom(given);
  const existing = await tryConnect(socketPath);
  if (existing) return existing;
  const child = Bun.spawn([...ownProgram(), "serve", ...serveFlagsFrom(given), "--allow-root"], {
    env: { ...(await engineSettings()), ...process.env },
    stdio: ["ignore", "ignore", "ignore"],
    detached: true, // own session: ^C and SIGHUP of this terminal do not reach the daemon
  });
  child.unref();
  const client = await untilListening(child, socketPath);
  process.stderr.write(`trl: started a daemon in the background, on ${socketPath}\n`);
  return client;
}
