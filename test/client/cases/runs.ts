import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { CommandError } from "trl/client";
import { type Case, failure, soon, until } from "../world.ts";

export const runs: Case[] = [
  {
    name: "run: gives a result in JavaScript's spelling",
    async run(world) {
      await using session = await (await world.connect()).session();
      const result = await session.run("echo out; echo err >&2; exit 3");
      assert.match(result.commandId, /^x-[0-9a-f]{12}$/);
      assert.equal(typeof result.durationMs, "number");
      const { commandId, durationMs, receipt, ...rest } = result;
      assert.equal(receipt.bytesOut, 8);
      assert.deepEqual(rest, {
        stdout: "out\n",
        stderr: "err\n",
        exitCode: 3,
        timedOut: false,
        signal: null,
        reason: "exit",
        truncated: false,
        stdoutBytes: 4,
        stderrBytes: 4,
        leftovers: [],
        workingDir: "/tmp",
      });
    },
  },
  {
    name: "run: a time limit that is reached is an error with a result",
    async run(world) {
      await using session = await (await world.connect()).session();
      const error = await failure(
        "run",
        session.run("echo begun; sleep 60", { timeoutS: 0.3 }),
        "COMMAND_TIMEOUT",
      );
      assert.ok(error instanceof CommandError);
      assert.equal(error.result.timedOut, true);
      assert.equal(error.result.stdout, "begun\n");
      assert.equal((await session.run("printf usable")).stdout, "usable");
    },
  },
  {
    name: "run: check makes an error of an exit code",
    async run(world) {
      await using session = await (await world.connect()).session();
      const error = await failure("run", session.run("echo why; exit 4", { check: true }), "COMMAND_FAILED");
      assert.ok(error instanceof CommandError);
      assert.equal(error.result.exitCode, 4);
      assert.equal((await session.run("true", { check: true })).exitCode, 0);
    },
  },
  {
    name: "run: bytes are what was printed",
    async run(world) {
      await using session = await (await world.connect()).session();
      const command = String.raw`printf '\377\000\351'; printf '\200' >&2`;
      const { stdout, stderr } = await session.run(command, { encoding: "bytes" });
      assert.deepEqual([...stdout], [0xff, 0, 0xe9]);
      assert.deepEqual([...stderr], [0x80]);
      assert.ok(stdout instanceof Uint8Array);
      assert.equal((await session.run(command)).stdout, "\ufffd\0\ufffd");
      assert.equal((await session.run("printf ä", { encoding: "utf8" })).stdout, "ä");
      const told = session.run("printf ä; exit 3", { encoding: "bytes", check: true });
      const error = await failure("a result with an error", told, "COMMAND_FAILED");
      assert.equal((error as CommandError).result.stdout, "ä");
    },
  },
  {
    name: "run: stdin, environment and directory are the command's alone",
    async run(world) {
      await using session = await (await world.connect()).session({ env: { KEPT: "a" } });
      const options = { stdin: "line ä\n", env: { MARK_one: "b", KEPT: null }, workingDir: "/usr" };
      const { stdout } = await session.run('cat; echo "$MARK_one ${KEPT-unset}"; pwd', options);
      assert.equal(stdout, "line ä\nb unset\n/usr\n");
      assert.equal((await session.run('printf "$KEPT${MARK_one-}"')).stdout, "a");
    },
  },
  {
    name: "run: what is too much is left out, and said",
    async run(world) {
      await using session = await (await world.connect()).session();
      const result = await session.run("seq 1 100000", { maxOutputBytes: 1000 });
      assert.equal(result.truncated, true);
      assert.ok(result.stdout.length < 1200);
      assert.equal(result.stdoutBytes, 588895);
    },
  },
  {
    name: "run: an option that is not known is told",
    async run(world) {
      await using session = await (await world.connect()).session();
      const wrong = { timeout: 3 } as object;
      await assert.rejects(
        session.run("true", wrong),
        /exec.run: there is no option "timeout"; is it "timeoutS"/,
      );
    },
  },
  {
    name: "run: a session runs one command at a time",
    async run(world) {
      await using session = await (await world.connect()).session();
      const first = session.run("sleep 60");
      await failure("the second", session.run("true"), "SESSION_BUSY");
      await session.cancel();
      await first;
    },
  },
  {
    name: "run: a signal that is aborted already runs nothing",
    async run(world) {
      await using session = await (await world.connect()).session();
      const mark = world.path("ran");
      const reason = new Error("before");
      const signal = AbortSignal.abort(reason);
      await assert.rejects(session.run(`touch ${mark}`, { signal }), reason);
      await session.run("true");
      assert.equal(existsSync(mark), false);
    },
  },
  {
    name: "run: a signal stops the command, and the session is usable right after",
    async run(world) {
      await using session = await (await world.connect()).session();
      for (const when of ["at once", "when it runs"]) {
        const aborting = new AbortController();
        const mark = world.path(when.replaceAll(" ", "-"));
        const running = session.run(`touch ${mark}; sleep 60`, { signal: aborting.signal });
        running.catch(() => {});
        if (when !== "at once") await until("its beginning", () => existsSync(mark));
        const reason = new Error(when);
        aborting.abort(reason);
        await assert.rejects(soon(when, running), reason);
        assert.equal((await session.run("printf usable")).stdout, "usable");
      }
      const signal = AbortSignal.timeout(200);
      await assert.rejects(session.run("sleep 60", { signal, check: true }), { name: "TimeoutError" });
      assert.equal((await session.run("printf usable")).stdout, "usable");
    },
  },
  {
    name: "run: many at once, and large ones, are not mixed up",
    async run(world) {
      const trl = await world.connect();
      const input = world.path("input");
      writeFileSync(input, "0123456789abcde\n".repeat(64 * 1024));
      const results = await Promise.all(
        Array.from({ length: 6 }, async (_, index) => {
          await using session = await trl.session();
          const { stdout } = await session.run(`echo ${index}; cat ${input}`);
          return [stdout.slice(0, 2), stdout.length];
        }),
      );
      assert.deepEqual(
        results,
        Array.from({ length: 6 }, (_, index) => [`${index}\n`, 1048578]),
      );
    },
  },
];
