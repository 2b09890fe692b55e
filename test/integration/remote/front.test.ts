// One daemon in front of all: what the links do is its business, and its clients see nothing of it.
import { expect } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "../../../src/client/connect.ts";
import { startHere } from "../../support/daemon.ts";
import { startDocker, type TestDocker } from "../../support/dockerd.ts";
import { needs } from "../../support/needs.ts";
import { isAlive, processesWith } from "../../support/processes.ts";
import { checkCommands, checkStream, checkTerminal } from "../../support/remote-daemon.ts";
import { startSshd, type TestSshd } from "../../support/sshd.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { until } from "../../support/wait.ts";

const { afterAll, beforeAll, describe, test } = needs("docker", "sshd");

let engine: TestDocker;
let sshd: TestSshd;
beforeAll(async () => {
  [engine, sshd] = await Promise.all([startDocker(), startSshd()]);
}, 120_000);
afterAll(async () => {
  await Promise.all([engine?.[Symbol.asyncDispose](), sshd?.[Symbol.asyncDispose]()]);
}, 60_000);

type Table = Record<string, unknown>;

/** A daemon that knows these runtimes, by its configuration. */
async function startFront(runtimes: Record<string, Table>) {
  const dir = tempDir();
  const tables = Object.entries(runtimes).map(([name, fields]) => {
    const lines = Object.entries(fields).map(([field, value]) => `${field} = ${JSON.stringify(value)}`);
    return `[runtimes.${name}]\n${lines.join("\n")}\n`;
  });
  const config = join(dir.path, "config.toml");
  writeFileSync(config, tables.join("\n"), { mode: 0o600 });
  const daemon = await startHere({
    flags: ["--config", config],
    env: { DOCKER_HOST: engine.env["DOCKER_HOST"]!, DOCKER_CONFIG: engine.env["DOCKER_CONFIG"]! },
  });
  return {
    ...daemon,
    connect: () => connect({ socket: daemon.socketPath }),
    async [Symbol.asyncDispose]() {
      await daemon[Symbol.asyncDispose]();
      dir[Symbol.dispose]();
    },
  };
}

const ssh = (): Table => ({ kind: "ssh", ...sshd.spec });
const docker = (id: string): Table => ({ kind: "docker", container: id });
/** All that ssh has running for a daemon names its private directory. */
const sshOf = ({ pid }: { pid: number }) => processesWith(`/trl-${pid}-`);
const refusal = (opening: Promise<unknown>) =>
  opening.then(
    () => undefined,
    (error: Error) => error,
  );

test("host, ssh and docker side by side, each by its name", async () => {
  const id = engine.run(...engine.withExecutable);
  await using front = await startFront({ away: ssh(), box: docker(id) });
  await using trl = await front.connect();
  for (const runtime of ["host", "away", "box"]) {
    await checkCommands(trl, { runtime });
    await checkStream(trl, undefined, { runtime });
    await checkTerminal(trl, undefined, { runtime });
  }
  await using inside = await trl.session({ runtime: "box" });
  expect((await inside.run("cat /proc/1/comm")).stdout).toBe("sleep\n");
  const { runtimes } = await trl.call("runtime.list", {});
  expect(runtimes.map(({ name, kind, state }) => [name, kind, state])).toEqual([
    ["host", "host", "connected"],
    ["away", "ssh", "connected"],
    ["box", "docker", "connected"],
  ]);
}, 90_000);

test("ssh is killed in the middle of a stream and of a terminal: the hash is right, the shell has the same pid", async () => {
  await using front = await startFront({ away: ssh() });
  await using trl = await front.connect();
  const cut = () => {
    const pids = sshOf(front);
    for (const pid of pids) process.kill(pid, "SIGKILL");
    return pids.length;
  };
  let cuts = 0;
  const onChunk = (bytes: number) => {
    if (bytes > (cuts + 1) * 700_000 && cuts < 3 && cut() > 0) cuts++;
  };
  await checkStream(trl, onChunk, { runtime: "away" });
  expect(cuts).toBe(3);
  await checkTerminal(trl, () => expect(cut()).toBeGreaterThan(0), { runtime: "away" });
}, 90_000);

describe("docker kill", () => {
  test("is RUNTIME_UNAVAILABLE with since and why, and the rest lives", async () => {
    const id = engine.run(...engine.withExecutable);
    await using front = await startFront({ away: ssh(), box: docker(id) });
    await using trl = await front.connect();
    const session = await trl.session({ runtime: "box" });
    const others = await Promise.all(["host", "away"].map((runtime) => trl.session({ runtime })));
    const stream = session.stream("echo begun; sleep 1000", { timeoutS: 0 });
    for await (const { data } of stream) if (data === "begun\n") break;
    const running = others.map((other) => other.run("sleep 1; echo lives"));
    const before = Date.now();
    const exited = stream.exited;
    engine.docker("kill", id);
    const error = (await refusal(session.run("true"))) as Error & { data: Table };
    expect(error).toMatchObject({
      code: "RUNTIME_UNAVAILABLE",
      data: { runtime: "box", reason: expect.stringContaining("is not running") },
    });
    expect(Date.parse(String(error.data["since"]))).toBeGreaterThanOrEqual(before - 1000);
    const ended = await exited.then(
      ({ reason }) => reason as string,
      ({ code }) => code as string,
    );
    expect(["RUNTIME_UNAVAILABLE", "lost"]).toContain(ended);
    for (const result of await Promise.all(running)) expect(result.stdout).toBe("lives\n");
    const { runtimes } = await trl.call("runtime.list", {});
    expect(runtimes.find(({ name }) => name === "box")).toMatchObject({ state: "unavailable", sessions: 0 });
    // Who has never seen it alive is told the same.
    await using fresh = await startFront({ box: docker(id) });
    await using newcomer = await fresh.connect();
    // On a busy machine the engine's answer takes longer than a list waits for it.
    const reasonOf = async () => (await newcomer.call("session.list", {})).unavailable?.[0]?.reason;
    await until("the reason", async () => (await reasonOf())?.includes("is not running"));
    engine.docker("start", id);
    await until(
      "its return",
      () => refusal(checkCommands(trl, { runtime: "box" })).then((it) => !it),
      30_000,
    );
  }, 90_000);

  test("a command that is cancelled in a container is dead for those who look from outside", async () => {
    const id = engine.run(...engine.withExecutable);
    await using front = await startFront({ box: docker(id) });
    await using trl = await front.connect();
    await using session = await trl.session({ runtime: "box" });
    const lasting = 10_000_000 + 2 * process.pid; // seconds that nothing else sleeps
    const seen = () => [lasting, lasting + 1].flatMap((seconds) => processesWith(`sleep ${seconds}`));
    const stream = session.stream(`(setsid sleep ${lasting} &); sleep ${lasting + 1}`, { timeoutS: 0 });
    const pids = await until("the command", () => (seen().length === 2 ? seen() : undefined));
    expect(engine.docker("top", id)).toContain(`sleep ${lasting}`);
    await stream.cancel();
    await stream.exited;
    expect(pids.filter(isAlive)).toEqual([]);
    expect(engine.docker("top", id)).not.toContain(`sleep ${lasting}`);
  });
});

test("the end of the daemon does not wait for a connection that is stuck", async () => {
  const front = await startFront({ away: ssh() });
  const trl = await front.connect();
  await checkCommands(trl, { runtime: "away" });
  const stuck = sshOf(front);
  for (const pid of stuck) process.kill(pid, "SIGSTOP");
  const asked = performance.now();
  await trl.close();
  await front[Symbol.asyncDispose]();
  expect(performance.now() - asked).toBeLessThan(20_000);
  for (const pid of stuck.filter(isAlive)) process.kill(pid, "SIGKILL");
});

test("the end of the daemon is the end of its links, and of the container that it made", async () => {
  const containers = () => engine.docker("ps", "-aq").split("\n").filter(Boolean);
  const before = containers();
  const options = ["--network", "none", ...engine.withExecutable];
  const front = await startFront({ away: ssh(), made: { kind: "docker", image: engine.image, options } });
  const trl = await front.connect();
  for (const runtime of ["away", "made"]) await checkCommands(trl, { runtime });
  const links = sshOf(front);
  expect(links.length).toBeGreaterThan(0);
  expect(containers()).toHaveLength(before.length + 1);
  await trl.close();
  await front[Symbol.asyncDispose]();
  expect(containers()).toEqual(before);
  expect(links.filter(isAlive)).toEqual([]);
  expect(readdirSync("/dev/shm").filter((name) => name.startsWith(`trl-${front.pid}-`))).toEqual([]);
});
