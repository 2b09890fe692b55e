// Who lives and who dies: background processes, escapees, timeouts, destroy, shutdown.
import * as bun from "bun:test";
import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { shutdownGraceMs } from "../../../src/core/limits.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { childrenOf, isAlive } from "../../support/processes.ts";
import { binary } from "../../support/program.ts";
import { isFast } from "../../support/requirements.ts";
import { newSession } from "../../support/session.ts";
import { until } from "../../support/wait.ts";

/** Ways out of a process group, each leaving its pid in a file named $F. */
const escapes = {
  "in the background": "sleep 1000 & echo $! >$F",
  nohup: "nohup sleep 1000 >/dev/null 2>&1 & echo $! >$F",
  setsid: "setsid sh -c 'echo $$ >$F; exec sleep 1000' &",
  "setsid, twice forked": "(setsid sh -c 'sh -c \"echo \\$\\$ >$F; exec sleep 1000\" &' &)",
  disowned: "sleep 1000 & echo $! >$F; disown",
  "deaf to SIGTERM": "sh -c 'trap \"\" TERM HUP; echo $$ >$F; while :; do sleep 1; done' &",
  "setsid with a clean environment": "env -i setsid sh -c 'echo $$ >'$F'; exec sleep 1000' &",
  "twice forked with a clean environment, deaf":
    '(env -i F=$F setsid sh -c \'(trap "" TERM HUP; echo $$ >$F.x; sh -c "echo \\$\\$ >$F; exec sleep 1000") &\' &)',
};

async function pidIn(file: string): Promise<number> {
  await until(
    `a pid in ${file}`,
    async () => (await Bun.file(file).exists()) && readFileSync(file, "utf8").trim(),
  );
  return Number(readFileSync(file, "utf8"));
}

async function withDaemon(body: (daemon: TestDaemon) => Promise<void>): Promise<void> {
  await using daemon = await startDaemon();
  await body(daemon);
}

// Each has a daemon of its own, and mostly waits for processes that do not want to end.
describe.each(Object.entries(escapes))("a process left %s", (_, command) => {
  const { test } = command.includes("setsid") ? needs("linux") : bun;
  test.concurrent("lives on, is named, and dies with its session", () =>
    withDaemon(async (daemon) => {
      using wire = await daemon.connect();
      const session = await newSession(wire);
      const F = `${daemon.dir}/pid`;
      const result = await session.run(`${command}\nuntil [ -s $F ]; do sleep 0.01; done`, { env: { F } });
      const pid = await pidIn(F);
      expect(isAlive(pid)).toBe(true);
      expect(result.leftovers.map((left) => left.pid)).toContain(pid);
      await session.run("true");
      expect(isAlive(pid)).toBe(true);
      await wire.call("session.destroy", { session_id: session.id });
      expect(isAlive(pid)).toBe(false);
    }));

  test.concurrent("of a command that is stopped dies with it", () =>
    withDaemon(async (daemon) => {
      using wire = await daemon.connect();
      const session = await newSession(wire);
      const F = `${daemon.dir}/pid`;
      await session.run("sleep 1000 & echo $! >$F.earlier", { env: { F } });
      const error = await wire.fail("exec.run", {
        session_id: session.id,
        command: `${command}\nsleep 60`,
        env: { F },
        timeout_s: 0.5,
      });
      expect(error.code).toBe("COMMAND_TIMEOUT");
      expect(isAlive(await pidIn(F))).toBe(false);
      expect(isAlive(await pidIn(`${F}.earlier`))).toBe(true);
    }));
});

test("a background process does not hold up the reply, and never gets SIGPIPE", () =>
  withDaemon(async (daemon) => {
    using wire = await daemon.connect();
    const session = await newSession(wire);
    const [go, done] = [`${daemon.dir}/go`, `${daemon.dir}/done`];
    // It prints until the reply is there.
    const result = await session.run(
      `(while [ ! -e ${go} ]; do echo x; sleep 0.01; done; echo last && touch ${done}) & echo hi`,
    );
    expect(result.stdout).toContain("hi\n");
    expect(result.leftovers.length).toBeGreaterThan(0);
    writeFileSync(go, "");
    await until("the background loop to finish", () => Bun.file(done).exists());
  }));

test("a background process that floods neither blocks nor grows the daemon", () =>
  withDaemon(async (daemon) => {
    using wire = await daemon.connect();
    const session = await newSession(wire);
    const done = `${daemon.dir}/done`;
    await session.run(`(head -c 200000000 /dev/zero; touch ${done}) & sleep 0.05; echo hi`);
    await until("the flood to be over", () => Bun.file(done).exists());
    expect(await session.out("echo usable")).toBe("usable");
  }));

test("destroy with force gives the waiting caller its own reply", () =>
  withDaemon(async (daemon) => {
    using wire = await daemon.connect();
    const session = await newSession(wire);
    const running = session.run("echo before; sleep 60");
    await until(
      "the command to print",
      async () => (await wire.call("exec.list", {})).streams[0]?.stdout_bytes === 7,
    );
    const refused = await wire.fail("session.destroy", { session_id: session.id });
    expect(refused.code).toBe("SESSION_BUSY");
    const busy = await wire.fail("exec.run", { session_id: session.id, command: "true" });
    expect(busy.code).toBe("SESSION_BUSY");
    await wire.call("session.destroy", { session_id: session.id, force: true });
    expect(await running).toMatchObject({ reason: "cancelled", stdout: "before\n", timed_out: false });
    expect((await wire.fail("session.info", { session_id: session.id })).code).toBe("SESSION_NOT_FOUND");
  }));

needs("linux").test("SIGTERM with twenty running commands leaves no process, no socket, no file", () =>
  withDaemon(async (daemon) => {
    using wire = await daemon.connect();
    const files: string[] = [];
    for (let i = 0; i < 20; i++) {
      const session = await newSession(wire);
      const F = `${daemon.dir}/pid${i}`;
      files.push(F, `${F}.escaped`);
      wire.sendFrame({
        id: `run${i}`,
        method: "exec.run",
        params: {
          session_id: session.id,
          env: { F },
          command:
            "trap '' TERM; echo $$ >$F; setsid sh -c 'echo $$ >$F.escaped; exec sleep 1000' & sleep 1000",
        },
      });
    }
    const pids = await Promise.all(files.map(pidIn));
    const began = performance.now();
    daemon.kill("SIGTERM");
    expect(await daemon.exited).toBe(0);
    expect(performance.now() - began).toBeLessThan(20 * shutdownGraceMs); // not one after the other
    expect(pids.filter(isAlive)).toEqual([]);
    expect(await Bun.file(daemon.socketPath).exists()).toBe(false);
    expect(await Bun.file(daemon.socketPath.replace(".sock", ".pid")).exists()).toBe(false);
    expect([...new Bun.Glob(`trl-${daemon.pid}-*`).scanSync({ cwd: "/dev/shm", onlyFiles: false })]).toEqual(
      [],
    );
    expect(wire.frames.filter((frame) => frame["id"]?.startsWith("run")).length).toBe(20);
  }),
);

needs("linux").test("a process with a forged tag dies with its session all the same", () =>
  withDaemon(async (daemon) => {
    using wire = await daemon.connect();
    const session = await newSession(wire);
    const other = await newSession(wire);
    const result = await session.run(
      "export TRL_SESSION_ID=s-00000000 TRL_COMMAND_ID=x; (setsid sleep 1000 &)\nsleep 0.1",
    );
    const { pid } = result.leftovers[0]!;
    await wire.call("session.destroy", { session_id: session.id });
    expect(isAlive(pid)).toBe(false);
    expect(await other.out("echo here")).toBe("here");
  }),
);

needs("linux").test("a process that changed its tag dies with the command that is stopped", () =>
  withDaemon(async (daemon) => {
    using wire = await daemon.connect();
    const session = await newSession(wire);
    const F = `${daemon.dir}/pid`;
    await wire.fail("exec.run", {
      session_id: session.id,
      command: "TRL_COMMAND_ID=zzz setsid -f sh -c 'echo $$ >$F; exec sleep 555'; sleep 100",
      env: { F },
      timeout_s: 0.5,
    });
    expect(isAlive(await pidIn(F))).toBe(false);
  }),
);

needs("linux").test("one session's stray process is not charged to another", () =>
  withDaemon(async (daemon) => {
    using wire = await daemon.connect();
    const a = await newSession(wire);
    const b = await newSession(wire);
    const F = `${daemon.dir}/pid`;
    await a.run(
      `env -i setsid bash -c 'sleep 0.3; setsid sh -c "echo \\$\\$ >${F}; exec sleep 301" & sleep 0.3' >/dev/null 2>&1 &`,
    );
    const result = await b.run("sleep 1");
    expect(result.leftovers).toEqual([]);
    const pid = await pidIn(F);
    await wire.call("session.destroy", { session_id: b.id });
    expect(isAlive(pid)).toBe(true);
  }),
);

test("children from before the daemon became itself are none of its business", async () => {
  await using daemon = await startDaemon({ program: ["bash", "-c", 'sleep 5432 & exec "$0" "$@"', binary] });
  using wire = await daemon.connect();
  const session = await newSession(wire);
  expect((await session.run("echo hi")).leftovers).toEqual([]);
  const foreign = childrenOf(daemon.pid).find(({ args }) => args === "sleep 5432")!;
  await wire.call("session.destroy", { session_id: session.id });
  expect(isAlive(foreign.pid)).toBe(true);
  process.kill(foreign.pid);
});

test("orphans that end are reaped while nothing else happens", () =>
  withDaemon(async (daemon) => {
    using wire = await daemon.connect();
    const session = await newSession(wire);
    await session.run("while :; do (/bin/true &); sleep 0.01; done >/dev/null 2>&1 &");
    await until("many to have come and gone", async () => {
      const { streams } = await wire.call("exec.list", {});
      return streams.length === 1 && performance.now() > 0;
    });
    await until("a second of it", () => Bun.sleep(1500).then(() => true));
    expect(childrenOf(daemon.pid).filter(({ state }) => state === "Z").length).toBeLessThan(150);
  }));

test("leftovers are named by what they are", () =>
  withDaemon(async (daemon) => {
    using wire = await daemon.connect();
    const session = await newSession(wire);
    const names = new Set<string>();
    for (let i = 0; i < 10; i++) {
      const { leftovers } = await session.run("sleep 1000 &");
      for (const { command } of leftovers) names.add(command);
    }
    expect(names).toContain("sleep 1000");
    // On a busy machine one may still be on its way from fork to exec.
    for (const name of names) expect(name).toMatch(/^sleep 1000$|bash \(subshell\)$/);
    const { leftovers } = await session.run("(while :; do sleep 1; done) &");
    expect(leftovers[0]?.command).toMatch(/bash \(subshell\)$/);
  }));

needs("linux").test("adopted processes that end are reaped", () =>
  withDaemon(async (daemon) => {
    using wire = await daemon.connect();
    const session = await newSession(wire);
    await session.run("for i in 1 2 3 4 5; do setsid sleep 0.2 & done");
    await until("no zombie", () => {
      const children = childrenOf(daemon.pid);
      const warmShells = isFast("warm-shells") ? 1 : 0;
      return children.length === warmShells && children.every(({ state }) => state !== "Z");
    });
    expect((await wire.call("system.stats", {})).leftover_processes).toBe(0);
  }),
);

needs("linux").test(
  "beyond a thousand children an orphan is still seen, named and ended, with its session, command or daemon",
  () =>
    withDaemon(async (daemon) => {
      using wire = await daemon.connect();
      const [many, one] = [await newSession(wire), await newSession(wire)];
      const started = await many.run("for i in $(seq 1100); do sleep 1000 & done");
      expect(started.leftovers.length).toBe(1100);
      // It has the name of its program from the moment on in which it is that.
      const untilProgram = "until grep -q ^sleep /proc/$!/cmdline; do :; done";
      const { leftovers } = await one.run(`setsid sleep 1001 & ${untilProgram}`);
      expect(leftovers.map(({ command }) => command)).toEqual([expect.stringMatching(/sleep 1001$/)]);
      await wire.call("session.destroy", { session_id: one.id });
      expect(isAlive(leftovers[0]!.pid)).toBe(false);
      const another = await newSession(wire);
      const F = `${daemon.dir}/pid`;
      const stopped = { env: { F }, timeout_s: 0.5 };
      const command =
        "(setsid sh -c 'echo $$ >$F; exec sleep 1002' &); until [ -s $F ]; do :; done; sleep 60";
      await wire.fail("exec.run", { session_id: another.id, command, ...stopped });
      expect(isAlive(await pidIn(F))).toBe(false);
      const last = (await another.run("setsid sleep 1003 &")).leftovers[0]!.pid;
      const pids = [last, ...started.leftovers.map(({ pid }) => pid)];
      expect(pids.filter(isAlive).length).toBe(1101);
      daemon.kill("SIGTERM");
      expect(await daemon.exited).toBe(0);
      expect(pids.filter(isAlive)).toEqual([]);
    }),
);

needs("python3").test(
  "a parent that ignores SIGCHLD does not keep the daemon from knowing how commands end",
  async () => {
    const ignoring = `import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])`;
    await using daemon = await startDaemon({ program: ["python3", "-c", ignoring, binary] });
    using wire = await daemon.connect();
    const session = await newSession(wire);
    for (let code = 0; code < 5; code++) {
      expect((await session.run(`x=${code}; (exit ${code})`)).exit_code).toBe(code);
      expect((await session.run(`/bin/sh -c 'exit ${code}'`)).exit_code).toBe(code);
    }
  },
);
