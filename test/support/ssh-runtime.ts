// The tests' daemon behind OpenSSH. The server is started with the first daemon, and ended with the file.

import type { StartRemote } from "./front-daemon.ts";
import { startSshd, type TestSshd } from "./sshd.ts";

let server: Promise<TestSshd> | undefined;

export const startBehindSsh: StartRemote = async (setup, start) => {
  server ??= startSshd();
  const { spec } = await server;
  const daemon = await start(setup);
  const { host, port, identity_file, options } = spec;
  return {
    daemon,
    spec: {
      kind: "ssh",
      host,
      port: port!,
      identity_file: identity_file!,
      options: [...options!],
      socket_path: daemon.socketPath,
    },
  };
};

export async function endSshRuntime(): Promise<void> {
  const started = await server;
  server = undefined;
  await started?.[Symbol.asyncDispose]();
}
