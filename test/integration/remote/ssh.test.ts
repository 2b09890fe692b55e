// A daemon behind OpenSSH: a real server on the loopback, a bare home directory, and links that are cut.
import { expect } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NoDaemonError } from "../../../src/client/carriers/carrier.ts";
import { connect } from "../../../src/client/connect.ts";
import { sshConnector } from "../../../src/remote/connectors/ssh.ts";
import { Executables } from "../../../src/remote/provision/executables.ts";
import { needs } from "../../support/needs.ts";
import { isAlive, processesWith } from "../../support/processes.ts";
import { binary } from "../../support/program.ts";
import {
  checkCommands,
  checkStream,
  checkTerminal,
  patience,
  remoteContext,
  untilLost,
} from "../../support/remote-daemon.ts";
import { startSshd, type TestSshd } from "../../support/sshd.ts";
import { sha256 } from "../../support/stream.ts";
import { until } from "../../support/wait.ts";

const { describe, test } = needs("sshd");

/** Like a network that goes away: the commands and the connection that they share. */
const cut = ({ runDir }: { runDir: string }) => {
  const links = processesWith(`${runDir}/ssh-`);
  for (const pid of links) process.kill(pid, "SIGKILL");
  return links.length;
};

const builds = ({ home }: TestSshd) => join(home, ".cache/trl");
const executableIn = (sshd: TestSshd) => {
  const [key, ...others] = readdirSync(builds(sshd));
  expect(others).toEqual([]);
  const dir = join(builds(sshd), key!);
  expect(readdirSync(dir)).toEqual(["trl"]); // nothing half copied beside it
  return join(dir, "trl");
};
const ownSum = sha256(readFileSync(binary));

/** What `connect` is refused with. */
const refusal = (opening: Promise<unknown>) =>
  opening.then(
    () => undefined,
    (error: Error) => error,
  );

describe("over ssh", () => {
  test("commands, streams and terminals, from a bare home directory on", async () => {
    await using sshd = await startSshd({ hasExecutable: false });
    using context = remoteContext();
    // What start files print is not taken for frames.
    writeFileSync(join(sshd.home, ".bashrc"), "echo welcome; printf 'no newline here'; echo oh >&2\n");
    const far = sshConnector(sshd.spec, context);
    await using trl = await connect({ open: far.open }, patience);
    await checkCommands(trl);
    await checkStream(trl);
    await checkTerminal(trl);
    const executable = executableIn(sshd);
    expect(sha256(readFileSync(executable))).toBe(ownSum);
    expect(statSync(executable).mode & 0o777).toBe(0o700);
    await using session = await trl.session();
    expect((await session.run("env | grep ^SSH_")).stdout).toBe(""); // the link's, and no use without it
    await far.dispose();
    // Also where a client looks for the way back.
    const again = async () => await far.open({ message() {}, closed() {} });
    expect(await refusal(again())).toMatchObject({ code: "RUNTIME_UNAVAILABLE" });
    await until("the end of all ssh", () => processesWith(`${context.runDir}/ssh-`).length === 0);
    expect(readdirSync(context.runDir)).toEqual([]);
  }, 120_000);

  test("a link that is cut in the middle of a stream and of a terminal loses nothing", async () => {
    await using sshd = await startSshd();
    using context = remoteContext();
    const far = sshConnector(sshd.spec, context);
    await using trl = await connect({ open: far.open }, patience);
    let cuts = 0;
    await checkStream(trl, (bytes) => {
      if (bytes > (cuts + 1) * 700_000 && cuts < 3 && cut(context) > 0) cuts++;
    });
    expect(cuts).toBe(3);
    await checkTerminal(trl, async () => {
      const lost = untilLost(trl);
      expect(cut(context)).toBeGreaterThan(0);
      await lost;
    });
    await far.dispose();
  }, 120_000);

  test("what is over there stays when everybody leaves, and is found again", async () => {
    await using sshd = await startSshd();
    using context = remoteContext();
    const first = sshConnector(sshd.spec, context);
    expect(await refusal(connect({ open: first.find }))).toMatchObject({ cause: expect.any(NoDaemonError) });
    const before = await connect({ open: first.open });
    const { id } = await before.session({ name: "stays" });
    await before.close();
    await first.dispose();
    const second = sshConnector(sshd.spec, context);
    await using trl = await connect({ open: second.find });
    expect((await trl.openSession("stays")).id).toBe(id);
    expect(sshd.daemonPids()).toEqual([(await trl.call("system.stats", {})).pid]);
    await second.dispose();
  });

  test("more links than one connection of ssh may have", async () => {
    await using sshd = await startSshd();
    using context = remoteContext();
    const far = sshConnector(sshd.spec, context);
    const first = await connect({ open: far.open });
    const clients = await Promise.all(Array.from({ length: 14 }, () => connect({ open: far.open })));
    const pids = await Promise.all(clients.map(async (trl) => (await trl.call("system.stats", {})).pid));
    expect(new Set(pids)).toEqual(new Set(sshd.daemonPids()));
    await Promise.all([first, ...clients].map((trl) => trl.close()));
    await far.dispose();
  });

  test("the daemon there is killed: what ran is over, and the next one begins anew", async () => {
    await using sshd = await startSshd();
    using context = remoteContext();
    const far = sshConnector(sshd.spec, context);
    await using trl = await connect({ open: far.open }, patience);
    const session = await trl.session();
    const stream = session.stream("sleep 1000", { timeoutS: 0 });
    await stream.started;
    const [daemon] = sshd.daemonPids();
    process.kill(daemon!, "SIGKILL");
    const error = await refusal(stream.exited);
    // As the next one has it from the journal, unless the first had no time to note it.
    expect(error).toMatchObject({ code: "RUNTIME_UNAVAILABLE" });
    expect(`${error!.message} ${(error!.cause as Error | undefined)?.message}`).toMatch(
      /lost: the daemon was killed while the command ran|there is no stream/,
    );
    expect(await refusal(session.run("true"))).toMatchObject({ code: "SESSION_NOT_FOUND" });
    await checkCommands(trl);
    expect(isAlive(daemon!)).toBe(false);
    await far.dispose();
  });
});

describe("the executable over there", () => {
  test("is copied once, also when several come at the same time", async () => {
    await using sshd = await startSshd({ hasExecutable: false, hasGunzip: false });
    using context = remoteContext();
    // Each stands for a program of its own: they know nothing of each other.
    const carriers = Array.from({ length: 3 }, () => sshConnector(sshd.spec, context));
    const clients = await Promise.all(carriers.map(({ open }) => connect({ open })));
    for (const trl of clients) await checkCommands(trl);
    const { ino, mtimeMs } = statSync(executableIn(sshd));
    await using later = await connect({ open: carriers[0]!.open });
    await checkCommands(later);
    expect(statSync(executableIn(sshd))).toMatchObject({ ino, mtimeMs });
    await Promise.all(clients.map((trl) => trl.close()));
    await Promise.all(carriers.map((far) => far.dispose()));
  }, 120_000);

  test("that is short, another or not executable is replaced before it becomes a daemon", async () => {
    await using sshd = await startSshd({ hasGunzip: false });
    using context = remoteContext();
    const far = sshConnector(sshd.spec, context);
    const first = await connect({ open: far.open });
    const session = await first.session();
    expect((await session.run("command -v gunzip")).stdout).toBe("");
    await first.close();
    const executable = executableIn(sshd);
    const whole = readFileSync(executable);
    const spoil = {
      short: () => writeFileSync(executable, whole.subarray(0, 1_000_000), { mode: 0o755 }),
      another: () => writeFileSync(executable, "#!/bin/sh\necho I am another\n", { mode: 0o755 }),
      "not executable": () => writeFileSync(executable, whole, { mode: 0o600 }),
    };
    for (const [fault, put] of Object.entries(spoil)) {
      const [daemon] = sshd.daemonPids();
      process.kill(daemon!, "SIGTERM");
      await until("the daemon's end", () => !isAlive(daemon!));
      rmSync(executable); // in its place, not into it: the bridge of a link that was closed may still be running
      put();
      await using trl = await connect({ open: far.open });
      await checkCommands(trl);
      expect([fault, sha256(readFileSync(executable))]).toEqual([fault, ownSum]);
    }
    await far.dispose();
  }, 120_000);

  test("goes to the user's own directory of /tmp where there is no home to write to", async () => {
    await using sshd = await startSshd({ hasExecutable: false, hasGunzip: false });
    using context = remoteContext();
    writeFileSync(join(sshd.home, ".cache"), "not a directory");
    const far = sshConnector(sshd.spec, context);
    await using trl = await connect({ open: far.open });
    await checkCommands(trl);
    expect(readdirSync(join(sshd.runtimeDir, "bin"))).toHaveLength(1);
    await far.dispose();
  }, 120_000);

  test("that is not at hand is named", async () => {
    await using sshd = await startSshd({ hasExecutable: false });
    using context = remoteContext({ executables: new Executables({ own: undefined, dirs: ["/nowhere"] }) });
    const far = sshConnector(sshd.spec, context);
    const error = await refusal(connect({ open: far.open }, { patienceS: 0 }));
    expect(error).toMatchObject({ code: "RUNTIME_UNAVAILABLE" });
    expect(error!.message).toMatch(/^ssh \S+: trl-linux-\S+ is needed to run there \(looked in \/nowhere\)/);
    expect(existsSync(join(sshd.home, ".cache"))).toBe(false);
    await far.dispose();
  });
});

describe("what ssh has to say is the reason:", () => {
  test.each([
    ["a wrong key", (sshd: TestSshd) => ({ ...sshd.spec, identity_file: "/dev/null" }), /Permission denied/],
    [
      "an unknown host",
      (sshd: TestSshd) => ({
        ...sshd.spec,
        options: ["-F", "/dev/null", "-o", "UserKnownHostsFile=/dev/null", "-o", "StrictHostKeyChecking=yes"],
      }),
      /Host key verification failed/,
    ],
    ["nobody there", (sshd: TestSshd) => ({ ...sshd.spec, port: 1 }), /Connection refused/],
  ])("%s", async (_, specOf, reason) => {
    await using sshd = await startSshd();
    using context = remoteContext();
    const far = sshConnector(specOf(sshd), context);
    const error = await refusal(connect({ open: far.open }, { patienceS: 0 }));
    expect(error).toMatchObject({ code: "RUNTIME_UNAVAILABLE", message: expect.stringMatching(reason) });
    await far.dispose();
    expect(readdirSync(context.runDir)).toEqual([]);
  });
});
