// A daemon in a container, on a real engine.
import { expect } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { connect } from "../../../src/client/connect.ts";
import { dockerConnector } from "../../../src/remote/connectors/docker.ts";
import { startDocker, type TestDocker } from "../../support/dockerd.ts";
import { needs } from "../../support/needs.ts";
import { isAlive, processesWith } from "../../support/processes.ts";
import {
  checkCommands,
  checkStream,
  checkTerminal,
  patience,
  remoteContext,
  untilLost,
} from "../../support/remote-daemon.ts";
import { findProgram } from "../../support/requirements.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { until } from "../../support/wait.ts";

const { afterAll, beforeAll, describe, test } = needs("docker");

let engine: TestDocker;
beforeAll(async () => {
  engine = await startDocker();
}, 120_000);
afterAll(() => engine?.[Symbol.asyncDispose](), 60_000);

const context = () => remoteContext({ env: engine.env });
const refusal = (opening: Promise<unknown>) =>
  opening.then(
    () => undefined,
    (error: Error) => error,
  );
const containers = () => engine.docker("ps", "-aq", "--no-trunc").split("\n").filter(Boolean);
/** The commands that carry the links to it. */
const links = (id: string) => processesWith(`exec -i ${id}`);
/** What runs in it, as seen from outside. */
const inside = (id: string) => engine.docker("top", id, "-eo", "pid,args");

describe("in a container that runs", () => {
  test("commands, streams and terminals", async () => {
    using own = context();
    const id = engine.run();
    const far = dockerConnector({ container: id }, own);
    await using trl = await connect({ open: far.open }, patience);
    await checkCommands(trl);
    await checkStream(trl);
    await checkTerminal(trl);
    await using session = await trl.session();
    expect((await session.run("cat /proc/1/cmdline | tr '\\0' ' '")).stdout).toBe("sleep 100000 ");
    await far.dispose();
    expect(engine.isRunning(id)).toBe(true); // it is not ours
  });

  test("a link that is cut loses nothing and leaves no bridge behind", async () => {
    using own = context();
    const id = engine.run(...engine.withExecutable);
    const far = dockerConnector({ container: id }, own);
    await using trl = await connect({ open: far.open }, patience);
    const cut = () => {
      const pids = links(id);
      for (const pid of pids) process.kill(pid, "SIGKILL");
      return pids.length;
    };
    let cuts = 0;
    await checkStream(trl, (bytes) => {
      if (bytes > (cuts + 1) * 700_000 && cuts < 3 && cut() > 0) cuts++;
    });
    expect(cuts).toBe(3);
    await checkTerminal(trl, async () => {
      const lost = untilLost(trl);
      expect(cut()).toBe(1);
      await lost;
    });
    await trl.close();
    await until("the end of the bridges", () => !inside(id).includes("dial-stdio"));
    await far.dispose();
  });

  test("a command that is killed there is dead for those who look from outside, with all that it started", async () => {
    using own = context();
    const id = engine.run(...engine.withExecutable);
    const far = dockerConnector({ container: id }, own);
    await using trl = await connect({ open: far.open }, patience);
    await using session = await trl.session();
    const seen = (seconds: number) => processesWith(`sleep ${seconds}`);
    const command = "sleep 54321 & (setsid sleep 54322 &) ; sleep 54323";
    const stream = session.stream(command, { timeoutS: 0 });
    const pids = await until("the command", () => {
      const found = [54321, 54322, 54323].flatMap(seen);
      return found.length === 3 ? found : undefined;
    });
    expect(inside(id)).toContain("sleep 54322");
    await stream.cancel();
    expect((await stream.exited).reason).toBe("cancelled");
    expect(pids.filter(isAlive)).toEqual([]);
    expect(inside(id)).not.toContain("sleep 5432");
    // The same by a time limit.
    await expect(session.run("sleep 54324", { timeoutS: 0.5 })).rejects.toMatchObject({
      code: "COMMAND_TIMEOUT",
    });
    expect(seen(54324)).toEqual([]);
    await far.dispose();
  });

  test("docker kill is the end of what ran, and of nothing else", async () => {
    using own = context();
    const [doomed, other] = [1, 2].map(() => engine.run(...engine.withExecutable));
    const [far, near] = [doomed, other].map((container) => dockerConnector({ container }, own));
    await using trl = await connect({ open: far!.open }, patience);
    await using neighbour = await connect({ open: near!.open }, patience);
    const session = await trl.session();
    const stream = session.stream("echo begun; sleep 1000", { timeoutS: 0 });
    for await (const { data } of stream) if (data === "begun\n") break;
    const exited = refusal(stream.exited);
    engine.docker("kill", doomed!);
    expect(await exited).toMatchObject({
      code: "RUNTIME_UNAVAILABLE",
      message: expect.stringMatching(/is not running/),
    });
    expect(await refusal(connect({ open: far!.open }))).toMatchObject({ code: "RUNTIME_UNAVAILABLE" });
    await checkCommands(neighbour);
    // It may come back, and is then as good as any.
    engine.docker("start", doomed!);
    await using again = await connect({ open: far!.open }, patience);
    await checkCommands(again);
    await Promise.all([far!.dispose(), near!.dispose()]);
  });

  test("as a user without a home", async () => {
    using own = context();
    const id = engine.run("--user", "1000:1000");
    const far = dockerConnector({ container: id }, own);
    await using trl = await connect({ open: far.open }, patience);
    await using session = await trl.session();
    expect((await session.run("id -u")).stdout).toBe("1000\n");
    expect(inside(id)).toContain("/tmp/trl-1000/bin/");
    await far.dispose();
  });

  test("with another C library, the build for that one is asked for", async () => {
    using own = context();
    using root = tempDir();
    mkdirSync(join(root.path, "bin"));
    mkdirSync(join(root.path, "lib"));
    copyFileSync(findProgram("busybox")!, join(root.path, "bin/busybox"));
    writeFileSync(join(root.path, "lib/ld-musl-any.so.1"), "");
    for (const applet of ["sh", "id", "uname", "mkdir", "sleep"])
      symlinkSync("busybox", join(root.path, "bin", applet));
    const pack = "tar -c . | docker import --change 'ENV PATH=/bin' - trl-test-musl:1";
    expect(Bun.spawnSync(["sh", "-c", pack], { cwd: root.path, env: engine.env }).exitCode).toBe(0);
    const far = dockerConnector({ image: "trl-test-musl:1", options: ["--network", "none"] }, own);
    const error = await refusal(connect({ open: far.open }, { patienceS: 0 }));
    expect(error!.message).toContain(`trl-linux-${process.arch}-musl is needed to run there`);
    await far.dispose();
  });

  test("that does not exist, or without an engine, the reason is Docker's", async () => {
    using own = context();
    const far = dockerConnector({ container: "nobody" }, own);
    const error = await refusal(connect({ open: far.open }, { patienceS: 0 }));
    expect(error).toMatchObject({ code: "RUNTIME_UNAVAILABLE" });
    expect(error!.message).toMatch(/^docker nobody: .*No such container: nobody/);
    using elsewhere = remoteContext({ env: { ...engine.env, DOCKER_HOST: "unix:///nowhere.sock" } });
    const lost = dockerConnector({ container: "nobody" }, elsewhere);
    const unreachable = await refusal(connect({ open: lost.open }, { patienceS: 0 }));
    expect(unreachable!.message).toMatch(
      /Cannot connect to the Docker daemon|failed to connect to the docker API/i,
    );
    const missing = dockerConnector({ container: "nobody", program: ["no-such-docker"] }, own);
    const absent = await refusal(connect({ open: missing.open }, { patienceS: 0 }));
    expect(absent!.message).toContain("no-such-docker cannot be started");
  });
});

describe("from an image", () => {
  const spec = () => ({ image: engine.image, options: ["--network", "none", ...engine.withExecutable] });

  test("a container is made when it is first needed, shared by all links, and removed", async () => {
    using own = context();
    const before = containers();
    const far = dockerConnector(spec(), own);
    expect(await refusal(connect({ open: far.find }))).toMatchObject({ code: "RUNTIME_UNAVAILABLE" });
    expect(containers()).toEqual(before);
    const clients = await Promise.all(Array.from({ length: 3 }, () => connect({ open: far.open })));
    const made = containers().filter((id) => !before.includes(id));
    expect(made).toHaveLength(1);
    for (const trl of clients) await checkCommands(trl);
    await using looker = await connect({ open: far.find });
    expect((await looker.call("session.list", {})).sessions).toEqual([]);
    await Promise.all(clients.map((trl) => trl.close()));
    await far.dispose();
    expect(containers()).toEqual(before);
  });

  test("that is killed, what ran is over, and there is a new one for the next", async () => {
    using own = context();
    const before = containers();
    const far = dockerConnector(spec(), own);
    await using trl = await connect({ open: far.open }, patience);
    const session = await trl.session();
    const stream = session.stream("echo begun; sleep 1000", { timeoutS: 0 });
    for await (const { data } of stream) if (data === "begun\n") break;
    const exited = refusal(stream.exited);
    const [made] = containers().filter((id) => !before.includes(id));
    engine.docker("kill", made!);
    expect(await exited).toMatchObject({ code: "RUNTIME_UNAVAILABLE" });
    expect(await refusal(session.run("true"))).toMatchObject({ code: "SESSION_NOT_FOUND" });
    await checkCommands(trl);
    await trl.close();
    await far.dispose();
    expect(containers()).toEqual(before);
  });

  test("what a killed daemon left is removed by the next one; what lives is left alone", async () => {
    using own = context();
    const other = Bun.spawn(["sleep", "1000"]);
    const startTime = (pid: number) =>
      Bun.spawnSync(["sh", "-c", `sed 's/.*) //' /proc/${pid}/stat | cut -d' ' -f20`])
        .stdout.toString()
        .trim();
    const owned = (owner: string) => engine.run("--label", `trl.owner=${owner}`);
    const live = owned(`${hostname()}:${other.pid}:${startTime(other.pid)}`);
    const dead = owned(`${hostname()}:${other.pid}:1`); // the pid is another's by now
    const foreign = owned("another-machine:1:1");
    const far = dockerConnector(spec(), own);
    await using trl = await connect({ open: far.open });
    await checkCommands(trl);
    expect([live, dead, foreign].map(engine.isRunning)).toEqual([true, false, true]);
    other.kill();
    await other.exited;
    await far.dispose();
  });

  test("that takes long to be had, who wants to go is not held up", async () => {
    using own = context();
    using dir = tempDir();
    const slow = join(dir.path, "slow-docker");
    const log = join(dir.path, "log");
    writeFileSync(slow, `#!/bin/sh\necho "$1 $2" >>${log}\n[ "$1" != run ] || exec sleep 1000\n`, {
      mode: 0o755,
    });
    const far = dockerConnector({ image: "large", program: [slow] }, own);
    const opening = refusal(connect({ open: far.open }, { patienceS: 0 }));
    const calls = () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []);
    await until("the making", () => calls().includes("run -d"));
    await far.dispose();
    expect(await opening).toMatchObject({ code: "RUNTIME_UNAVAILABLE" });
    expect(calls()).toEqual(["ps -a", "run -d", "rm -f"]); // what may have been made all the same
  });

  test("that is not there, the reason is Docker's", async () => {
    using own = context();
    const far = dockerConnector({ image: "no-such-image:1", options: ["--pull", "never"] }, own);
    const error = await refusal(connect({ open: far.open }, { patienceS: 0 }));
    expect(error).toMatchObject({ code: "RUNTIME_UNAVAILABLE" });
    expect(error!.message).toMatch(/no container could be made of no-such-image:1: .*No such image/i);
  });
});
