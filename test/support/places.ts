// The runtimes that the tests can be run in.
import type { StartFar } from "./front.ts";
import type { PlaceName } from "./transport.ts";

const known = {
  socket: async (setup, start) => {
    const daemon = await start(setup);
    return { daemon, spec: { kind: "socket", path: daemon.socketPath } };
  },
  command: async (setup, start) => {
    const daemon = await start(setup);
    const argv = ["socat", "-t", "600", "-", `UNIX-CONNECT:${daemon.socketPath}`];
    return { daemon, spec: { kind: "command", argv } };
  },
} satisfies Partial<Record<PlaceName, StartFar>>;

export const places = known as Partial<Record<PlaceName, StartFar>>;
