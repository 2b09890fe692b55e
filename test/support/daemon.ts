// A real daemon in a directory of its own, gone with everything it started when the test is over.
import { chownSync } from "node:fs";
import { join } from "node:path";
import { openHttp } from "./carriers/http.ts";
import { StdinConnection } from "./carriers/stdin.ts";
import { openUnix } from "./carriers/unix.ts";
import { openWebSocket } from "./carriers/websocket.ts";
import { startInFront } from "./front-daemon.ts";
import { asUser } from "./other-user.ts";
import { endAll, leavingsOf } from "./processes.ts";
import { binary } from "./program.ts";
import { places } from "./runtimes.ts";
import { tempDir } from "./temp-dir.ts";
import { place, type TransportName, transport } from "./transport.ts";
import { until } from "./wait.ts";
import { Wire } from "./wire.ts";

export interface DaemonSetup {
  flags?: string[];
  env?: Record<string, string>;
  /** Instead of the compiled executable. */
  program?: string[];
  /** Another user to run as, whose its directory is then; for tests that root runs. */
  uid?: number;
}

export interface TestDaemon extends AsyncDisposable {
  socketPath: string;
  dir: string;
  pid: number;
  connect(): Promise<Wire>;
  /** All that it has logged so far. */
  log(): string;
  kill(signal: NodeJS.Signals): void;
  exited: Promise<number>;
}

/** On the host, or where the tests are being run just now. */
export function startDaemon(setup: DaemonSetup = {}): Promise<TestDaemon> {
  const name = place();
  return name === "host" ? startHere(setup) : startInFront(places[name]!, setup, startHere);
}

/** The daemon itself, whatever the tests are run in. */
export async function startHere({
  flags = [],
  env = {},
  program = [binary],
  uid,
}: DaemonSetup = {}): Promise<TestDaemon> {
  const name = transport();
  const dir = tempDir();
  if (uid !== undefined) chownSync(dir.path, uid, uid);
  const socketPath = join(dir.path, "trl.sock");
  const token = env["TRL_AUTH_TOKEN"] ?? "token-of-the-tests";
  const { listenerFlags, listenerEnv } = listenerSetup(name, token);
  const command = [
    ...asUser(uid),
    ...program,
    "serve",
    "--socket-path",
    socketPath,
    "--allow-root",
    ...listenerFlags,
    ...flags,
  ];
  const isStdin = name === "stdin";
  const child = Bun.spawn(command, {
    cwd: dir.path,
    // A home of its own: what the startup files of this machine's user do is no part of a test.
    env: {
      PATH: process.env["PATH"],
      HOME: dir.path,
      LANG: "C.UTF-8",
      ...listenerEnv,
      TRL_RUNTIME_DIR: dir.path,
      TRL_STALL_FILE: process.env["TRL_STALL_FILE"], // see stalls.ts
      TRL_STALL_STACKS: process.env["TRL_STALL_STACKS"], // see upgrade.ts
      // Files that another user leaves in /tmp would be nobody's to remove.
      ...(uid === undefined ? {} : { TMPDIR: dir.path }),
      ...env,
    },
    stdio: [isStdin ? "pipe" : "ignore", isStdin ? "pipe" : "ignore", "pipe"],
  });
  let log = "";
  const logRead = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stderr) log += decoder.decode(chunk, { stream: true });
  })();
  await until("the daemon's socket", async () => {
    if (child.exitCode !== null) throw new Error(`the daemon ended with ${child.exitCode}:\n${log}`);
    return log.includes("ready");
  });
  const stdin =
    child.stdin && child.stdout
      ? new StdinConnection({ stdin: child.stdin, stdout: child.stdout })
      : undefined;
  return {
    socketPath,
    dir: dir.path,
    pid: child.pid,
    connect: () =>
      Wire.over(async (events) => {
        if (name === "http") return openHttp({ ...addressIn(log), token }, events);
        if (name === "websocket") return openWebSocket({ ...addressIn(log), token }, events);
        return (await stdin?.take(events)) ?? openUnix(socketPath, events);
      }),
    log: () => log,
    kill: (signal) => child.kill(signal),
    exited: child.exited,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.exited;
      // Where a test has killed it and nothing has come in its place.
      if (child.signalCode === "SIGKILL") await endAll(leavingsOf(child.pid));
      await Promise.all([logRead, stdin?.ended]);
      dir[Symbol.dispose]();
    },
  };
}

/** The socket is there in any case: one connection on standard input is not enough for most tests. */
function listenerSetup(
  name: TransportName,
  token: string,
): { listenerFlags: string[]; listenerEnv: Record<string, string> } {
  if (name === "stdin") return { listenerFlags: ["--stdin"], listenerEnv: {} };
  if (name === "unix") return { listenerFlags: [], listenerEnv: {} };
  return { listenerFlags: ["--http", "127.0.0.1:0"], listenerEnv: { TRL_AUTH_TOKEN: token } };
}

function addressIn(log: string): { hostname: string; port: number } {
  const [, hostname, port] = /http=http:\/\/([\d.]+):(\d+)/.exec(log)!;
  return { hostname: hostname!, port: Number(port) };
}
