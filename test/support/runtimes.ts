// The runtimes that the tests can be run in.
import { startInDocker } from "./docker-runtime.ts";
import type { StartRemote } from "./front-daemon.ts";
import { binary } from "./program.ts";
import { startBehindSsh } from "./ssh-runtime.ts";
import type { RuntimeKind } from "./transport.ts";

const known = {
  socket: async (setup, start) => {
    const daemon = await start(setup);
    return { daemon, spec: { kind: "socket", path: daemon.socketPath } };
  },
  command: async (setup, start) => {
    const daemon = await start(setup);
    const argv = [binary, "dial-stdio", "--no-start", "--socket-path", daemon.socketPath];
    return { daemon, spec: { kind: "command", argv } };
  },
  ssh: startBehindSsh,
  docker: startInDocker,
} satisfies Partial<Record<RuntimeKind, StartRemote>>;

export const places = known as Partial<Record<RuntimeKind, StartRemote>>;
