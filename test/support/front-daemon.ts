// A daemon in front of another one: clients speak with the first, and what they start lives at the second.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beside } from "../../src/util/socket-path.ts";
import type { Carrier } from "./carriers/carrier.ts";
import { openUnix } from "./carriers/unix.ts";
import type { DaemonSetup, TestDaemon } from "./daemon.ts";
import { endAll } from "./processes.ts";
import { Wire } from "./wire.ts";

/** Where what the tests start lives: the daemon there, and how the one in front reaches it. */
export interface RemoteSide {
  daemon: TestDaemon;
  /** A table of the configuration file. */
  spec: Record<string, string | number | string[]>;
  /** For the daemon in front. */
  env?: Record<string, string>;
}

export type StartRemote = (setup: DaemonSetup, start: Start) => Promise<RemoteSide>;
type Start = (setup: DaemonSetup) => Promise<TestDaemon>;

const runtime = "far";

export async function startInFront(
  startRemote: StartRemote,
  setup: DaemonSetup,
  start: Start,
): Promise<TestDaemon> {
  const { daemon: far, spec, env = {} } = await startRemote(setup, start);
  const config = join(far.dir, "front.toml");
  const fields = Object.entries(spec).map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`);
  writeFileSync(config, `[runtimes.${runtime}]\n${fields.join("")}`, { mode: 0o600 });
  const verbose = setup.flags?.includes("--verbose") ? ["--verbose"] : [];
  const front = await start({ flags: ["--config", config, ...verbose], env });
  return {
    ...far,
    socketPath: front.socketPath,
    connect: () => Wire.over(async (events) => placing(await openUnix(front.socketPath, events))),
    log: () => `${front.log()}${far.log()}`,
    async [Symbol.asyncDispose]() {
      await front[Symbol.asyncDispose]();
      await endSuccessor(far);
      await far[Symbol.asyncDispose]();
    },
  };
}

/** A link that comes back to a daemon which the test has ended may have started another one there. */
async function endSuccessor({ socketPath, pid }: TestDaemon): Promise<void> {
  const file = beside(socketPath, ".pid");
  const successor = existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
  if (successor > 1 && successor !== pid) await endAll([successor]);
}

/** Where a test says nothing of a runtime, it is the one of the tests. */
function placing(carrier: Carrier): Carrier {
  const place = (line: string) => {
    if (!line.includes(".create")) return line;
    const { method, params, ...rest } = JSON.parse(line) as { method: string; params?: object };
    const isCreation = method === "session.create" || method === "pty.create";
    return JSON.stringify({ ...rest, method, params: isCreation ? { runtime, ...params } : params });
  };
  return {
    send: (bytes) =>
      carrier.send(Buffer.from(Buffer.from(bytes).toString().split("\n").map(place).join("\n"))),
    endInput: () => carrier.endInput(),
    pause: () => carrier.pause(),
    resume: () => carrier.resume(),
    terminate: () => carrier.terminate(),
  };
}
