// The daemon, or one that is started in the background and stays: what people make is to outlive their shell.
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
    detached: true, // a session of its own: neither ^C nor the end of this terminal is its business
  });
  child.unref();
  const client = await untilListening(child, socketPath);
  process.stderr.write(`trl: started a daemon in the background, on ${socketPath}\n`);
  return client;
}
