// The connection is lost and the daemon lives: what goes on, what is asked again, and what is not.
import assert from "node:assert/strict";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { ConnectionError } from "trl/client";
import { ApplicationError, applicationErrors, type Case, failure, soon, until } from "../world.ts";
import { numbers, textOf } from "./streams.ts";
import { counted, counting, Gatherer, ready } from "./terminal-feeds.ts";

const on = ["socket", "http"] as const;
const lines = (path: string) => readFileSync(path, "utf8").split("\n").length - 1;

export const cuts: Case[] = [
  {
    name: "cut: a stream of megabytes goes on, each byte once",
    on,
    async run(world) {
      const { trl, proxy } = await world.overProxy({ patienceS: Number.POSITIVE_INFINITY });
      await using session = await trl.session();
      const stream = session.stream("seq 1 400000", { maxOutputBytes: 8_000_000 });
      let text = "";
      let cuts = 0;
      for await (const { data, missing } of stream) {
        assert.equal(missing, 0);
        text += data;
        if (text.length > (cuts + 1) * 400_000) {
          cuts++;
          proxy.cut();
        }
      }
      assert.ok(cuts >= 5);
      assert.equal(text === numbers(400_000), true);
      assert.equal((await stream.exited).exitCode, 0);
    },
  },
  {
    name: "cut: a terminal goes on, each byte once",
    on,
    async run(world) {
      const { trl, proxy } = await world.overProxy({ patienceS: 20 });
      await using terminal = await trl.terminal({ command: counting(60_000) });
      await ready(terminal);
      const gathered = new Gatherer();
      terminal.onOutput(gathered.take, { replay: "none" });
      await trl.call("system.ping");
      let nextCut = 50_000;
      proxy.onData = () => {
        if (gathered.text.length < nextCut) return;
        nextCut += 100_000;
        proxy.cut();
      };
      await terminal.write("\n").catch(() => {}); // its reply may be lost
      await until("the count", () => gathered.text.includes("finished\r\n"), 30_000);
      assert.deepEqual(gathered.problems, []);
      assert.deepEqual(gathered.redraws, []);
      assert.equal(gathered.text === counted(60_000), true);
      assert.ok(nextCut > 150_000);
    },
  },
  {
    name: "cut: who comes to watch while the line is cut gets a redraw as well",
    on,
    async run(world) {
      const { trl, proxy } = await world.overProxy({ patienceS: 20 });
      await using terminal = await trl.terminal({ command: counting(10) });
      await ready(terminal);
      const [first, second] = [new Gatherer(), new Gatherer()];
      terminal.onOutput(first.take);
      await until("the first redraw", () => first.redraws.length > 0);
      proxy.isAway = true;
      proxy.cut();
      await until("an attempt", () => proxy.visits > 2);
      terminal.onOutput(second.take);
      proxy.isAway = false;
      await until("the second redraw", () => second.redraws.length > 0);
      assert.match(second.redraws[0]!, /ready/);
    },
  },
  {
    name: "cut: a run whose reply was lost is answered, also where its session is gone by then",
    on,
    async run(world) {
      const { trl, proxy } = await world.overProxy({ patienceS: 20 });
      await using session = await trl.session();
      const direct = await world.another();
      const same = await direct.openSession(session.id);
      proxy.isSwallowing = true;
      const running = session.run("cd /usr; echo out; exit 9");
      await until("its end", async () => {
        const { commandCount, state } = await same.info();
        return commandCount === 1 && state === "idle";
      });
      await same.destroy();
      proxy.cut();
      proxy.isSwallowing = false;
      const { stdout, exitCode, workingDir } = await soon("its result", running);
      assert.deepEqual([stdout, exitCode, workingDir], ["out\n", 9, "/usr"]);
    },
  },
  {
    name: "cut: a run whose reply was lost is answered, and was run once",
    on,
    async run(world) {
      const { trl, proxy } = await world.overProxy({ patienceS: 20 });
      await using session = await trl.session();
      const [count, go] = [world.path("count"), world.path("go")];
      appendFileSync(count, "");
      const wait = `until [ -e ${go} ]; do sleep 0.05; done`;
      for (const when of ["while it runs", "after its end"]) {
        const ran = lines(count);
        proxy.isSwallowing = true;
        const command = `cd /usr; echo out ä; echo err >&2; echo ran >>${count}; ${when === "while it runs" ? wait : ":"}; exit 9`;
        const running = session.run(command);
        await until("its run", () => lines(count) > ran);
        if (when === "after its end") {
          const direct = await world.another();
          await until(
            "its end",
            async () => (await (await direct.openSession(session.id)).info()).state === "idle",
          );
        }
        proxy.cut();
        proxy.isSwallowing = false;
        writeFileSync(go, "");
        const { stdout, stderr, exitCode, workingDir, reason } = await soon(when, running);
        assert.deepEqual(
          { stdout, stderr, exitCode, workingDir, reason },
          { stdout: "out ä\n", stderr: "err\n", exitCode: 9, workingDir: "/usr", reason: "exit" },
        );
        assert.equal(lines(count), ran + 1);
      }
      proxy.isSwallowing = true;
      const bytes = session.run(String.raw`printf '\377'; echo ran >>${count}; exit 1`, {
        encoding: "bytes",
        check: true,
      });
      bytes.catch(() => {});
      await until("its run", () => lines(count) === 3);
      proxy.cut();
      proxy.isSwallowing = false;
      await failure("check", bytes, "COMMAND_FAILED");
    },
  },
  {
    name: "cut: an aborted run is stopped, also where the line was cut meanwhile",
    on,
    async run(world) {
      const { trl, proxy } = await world.overProxy({ patienceS: 20 });
      await using session = await trl.session();
      const mark = world.path("mark");
      const aborting = new AbortController();
      const reason = new Error("enough");
      const running = session.run(`touch ${mark}; sleep 60`, { signal: aborting.signal });
      running.catch(() => {});
      await until("its beginning", () => existsSync(mark));
      proxy.isAway = true;
      proxy.cut();
      aborting.abort(reason);
      await until("an attempt", () => proxy.visits > 2);
      proxy.isAway = false;
      await assert.rejects(soon("the run", running), reason);
      assert.equal((await session.run("printf usable")).stdout, "usable");
    },
  },
  {
    name: "cut: what may have been done is not done again by itself",
    on,
    async run(world) {
      const { trl, proxy } = await world.overProxy({ patienceS: 20 });
      const direct = await world.another();
      const name = `once ${world.dir}`;
      proxy.isSwallowing = true;
      const creating = failure("create", trl.session({ name }), "RUNTIME_UNAVAILABLE");
      const named = async () => (await direct.call("session.list")).sessions.filter((it) => it.name === name);
      await until("the session", async () => (await named()).length > 0);
      proxy.cut();
      proxy.isSwallowing = false;
      const error = await creating;
      assert.ok(error instanceof ConnectionError);
      assert.equal(error.mayHaveRun, true);
      await trl.call("system.ping");
      assert.equal((await named()).length, 1);
      await (await trl.openSession(name)).destroy();
    },
  },
  {
    name: "cut: what only looks is asked again, what is asked meanwhile waits, and the state is told",
    on,
    async run(world) {
      const { trl, proxy } = await world.overProxy({ patienceS: 20 });
      const states: string[] = [];
      const end = trl.onState((state) => states.push(state));
      proxy.isSwallowing = true;
      const received = proxy.bytesDown;
      const asked = trl.call("system.ping");
      await until("the lost reply", () => proxy.bytesDown > received);
      proxy.isAway = true;
      proxy.isSwallowing = false;
      proxy.cut();
      await until("an attempt", () => proxy.visits > 2);
      const meanwhile = Promise.all([trl.call("system.stats"), trl.session()]);
      proxy.isAway = false;
      await soon("what was lost", asked);
      const [, session] = await soon("what was asked meanwhile", meanwhile);
      await session.destroy();
      assert.deepEqual(states, ["reconnecting", "connected"]);
      end();
      proxy.cut();
      await soon("the next", trl.call("system.ping"));
      assert.equal(states.length, 2);
    },
  },
  {
    name: "cut: a listener that throws does not keep the client from its connection, and is heard of",
    on,
    async run(world) {
      const { trl, proxy } = await world.overProxy({ patienceS: 20 });
      const bug = new ApplicationError("in a listener");
      trl.onState(() => {
        throw bug;
      });
      const { visits } = proxy;
      proxy.cut();
      await soon("a call", trl.call("system.ping"));
      await until("the error", () => applicationErrors.includes(bug));
      assert.ok(proxy.visits <= visits + 2); // over HTTP, a ticket and the WebSocket
    },
  },
  {
    name: "cut: an AbortSignal is heard while the line is cut",
    on,
    async run(world) {
      const { trl, proxy } = await world.overProxy({ patienceS: 60 });
      proxy.isAway = true;
      proxy.cut();
      const aborting = new AbortController();
      const reason = new Error("enough");
      const asked = trl.call("system.ping", {}, { signal: aborting.signal });
      asked.catch(() => {});
      await until("an attempt", () => proxy.visits > 2);
      aborting.abort(reason);
      await assert.rejects(soon("the call", asked, 5000), reason);
      const meanwhile = failure("another call", trl.call("system.ping"), "RUNTIME_UNAVAILABLE");
      await soon("close does not wait either", Promise.all([trl.close(), meanwhile]), 5000);
    },
  },
  {
    name: "cut: a command that had not been sent is dropped by its AbortSignal, and known not to have run",
    on,
    async run(world) {
      const { trl, proxy } = await world.overProxy({ patienceS: 60 });
      const session = await trl.session();
      proxy.isAway = true;
      proxy.cut();
      await until("the end of the connection", () => proxy.visits > 2);
      const aborting = new AbortController();
      const reason = new Error("enough");
      const { signal } = aborting;
      const command = `echo ran >>${world.path("ran")}`;
      const stream = session.stream(command, { signal });
      const refused = [
        assert.rejects(soon("the run", session.run(command, { signal }), 5000), reason),
        assert.rejects(soon("the stream", stream.exited, 5000), reason),
      ];
      aborting.abort(reason);
      await Promise.all(refused);
      const left = failure("one that waits", session.stream(command).exited, "RUNTIME_UNAVAILABLE");
      await trl.close();
      assert.equal(((await left) as ConnectionError).mayHaveRun, false);
      proxy.isAway = false;
      const later = await world.another();
      await (await later.openSession(session.id)).destroy();
      assert.ok(!existsSync(world.path("ran")));
    },
  },
  {
    name: "cut: a patience without end is not without attempts",
    on,
    async run(world) {
      const { trl, proxy } = await world.overProxy({ patienceS: Number.POSITIVE_INFINITY });
      proxy.cut();
      await soon("the next call", trl.call("system.ping"));
    },
  },
  {
    name: "cut: for longer than one is patient is an error, and the next call works when it is back",
    on,
    async run(world) {
      const { trl, proxy } = await world.overProxy({ patienceS: 0.5 });
      await using session = await trl.session();
      const stream = session.stream("sleep 60");
      await stream.started;
      const states: string[] = [];
      trl.onState((state) => states.push(state));
      const visits = proxy.visits;
      proxy.isAway = true;
      proxy.cut();
      const errors = await Promise.all([
        failure("a call", trl.call("system.ping"), "RUNTIME_UNAVAILABLE"),
        failure("a loop", textOf(stream), "RUNTIME_UNAVAILABLE"),
        failure("an end", stream.exited, "RUNTIME_UNAVAILABLE"),
      ]);
      assert.ok(errors.every((error) => error instanceof ConnectionError));
      assert.ok(proxy.visits - visits < 50, `${proxy.visits - visits} attempts`);
      await until("the state", () => states.at(-1) === "disconnected");
      proxy.isAway = false;
      await soon("the next call", trl.call("system.ping"));
      assert.deepEqual(states, ["reconnecting", "disconnected", "connected"]);
      await session.destroy({ force: true });
    },
  },
  {
    name: "cut: a line that lets everybody in and says nothing is not waited for for ever",
    on: ["socket"],
    async run(world) {
      const { trl, proxy } = await world.overProxy({ patienceS: 0.1 });
      proxy.isSwallowing = true;
      proxy.cut();
      await failure("a call", trl.call("system.ping"), "RUNTIME_UNAVAILABLE");
      proxy.isSwallowing = false;
      await soon("the next call", trl.call("system.ping"));
    },
  },
  {
    name: "cut: without patience there is no second attempt",
    on,
    async run(world) {
      const { trl, proxy } = await world.overProxy({ patienceS: 0 });
      await using session = await trl.session();
      const stream = session.stream("sleep 60");
      await stream.started;
      const states: string[] = [];
      trl.onState((state) => states.push(state));
      proxy.cut();
      await failure("the loop", textOf(stream), "RUNTIME_UNAVAILABLE");
      assert.deepEqual(states, ["disconnected"]);
      await soon("the next call", trl.call("system.ping"));
      await session.destroy({ force: true });
    },
  },
];
