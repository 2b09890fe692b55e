// The user's daemon. Where there is none, one is started; it stays when the app is closed, and so do its terminals.
import { carrierTo, NoDaemonError, type OpenCarrier } from "trl/client";

/** A busy machine takes its time. */
const startMaxMs = 15_000;
const retryMs = 20;

export const daemonCarrier: OpenCarrier = async (events) => {
  const open = carrierTo(); // TRL_SOCKET_PATH, or else where `trl serve` listens by itself
  try {
    return await open(events);
  } catch (error) {
    if (!(error instanceof NoDaemonError)) throw error;
  }
  const child = startDaemon();
  for (const deadline = performance.now() + startMaxMs; ; await Bun.sleep(retryMs)) {
    try {
      return await open(events);
    } catch (error) {
      // 0 or not, another window may have been quicker: then its daemon is there in a moment.
      if (performance.now() > deadline) throw new Error(`${(error as Error).message}; ${toldBy(child)}`);
    }
  }
};

function startDaemon(): Bun.Subprocess {
  const binary = process.env["TRL_BINARY"] ?? Bun.which("trl");
  if (!binary) throw new Error("trl is not on the PATH: install it, or set TRL_BINARY to the executable");
  const child = Bun.spawn([binary, "serve"], {
    env: process.env,
    stdio: ["ignore", "ignore", "ignore"],
    detached: true, // it outlives the app
  });
  child.unref();
  return child;
}

const toldBy = ({ exitCode }: Bun.Subprocess) =>
  exitCode === null ? "the daemon is still starting" : `trl serve ended with exit code ${exitCode}`;
