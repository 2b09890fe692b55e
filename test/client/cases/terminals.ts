import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Case, failure, soon, until } from "../world.ts";
import { numbers } from "./streams.ts";

export const terminals: Case[] = [
  {
    name: "terminal: write, wait, screen, snapshot, resize, info",
    async run(world) {
      await using terminal = await (await world.connect()).terminal({
        command: "cat",
        cols: 70,
        rows: 10,
        name: "cats",
      });
      assert.equal(terminal.name, "cats");
      assert.ok(terminal.pid > 0);
      await terminal.write("hello ä\n");
      const { matched, screen } = await terminal.wait({ regex: "hel+o ä" }, { timeoutS: 20 });
      assert.equal(matched, "regex");
      assert.equal(screen.alternateScreen, false);
      await terminal.wait({ idleMs: 50 });
      assert.equal(await terminal.screen(), "hello ä\nhello ä");
      const snapshot = await terminal.snapshot({ format: "ansi" });
      assert.match(snapshot.data!, /hello/);
      assert.equal(snapshot.cols, 70);
      assert.equal(await terminal.resize(90, 20), true);
      const info = await terminal.info();
      assert.deepEqual([info.cols, info.rows, info.state, info.sessionId], [90, 20, "running", terminal.id]);
      assert.equal((await terminal.wait({ text: "never" }, { timeoutS: 0.1 })).matched, "timeout");
      await assert.rejects(terminal.wait({ txt: "x" } as object), /no option "txt"/);
    },
  },
  {
    name: "terminal: how it ended, by itself and by close",
    async run(world) {
      const trl = await world.connect();
      const first = await trl.terminal({ command: "read line; exit 7" });
      const exited = first.exited;
      await first.write("\n");
      assert.deepEqual(await soon("the end", exited), { exitCode: 7, signal: null });
      assert.deepEqual(await first.exited, { exitCode: 7, signal: null });
      const late = await trl.openTerminal(first.id);
      assert.deepEqual(await late.exited, { exitCode: 7, signal: null });
      await first[Symbol.asyncDispose]();
      const second = await trl.terminal({ command: "cat" });
      const waiting = second.exited;
      const closed = await second.close();
      assert.deepEqual(await soon("the end by close", waiting), closed);
      await failure("write", second.write("x"), "SESSION_NOT_FOUND");
    },
  },
  {
    name: "terminal: what was made is closed, what was found is let go",
    async run(world) {
      const trl = await world.connect();
      const sessionId = `made-${process.pid}-${world.transport}`;
      const made = await trl.terminal({ command: "cat", sessionId });
      assert.equal(made.id, sessionId);
      {
        await using found = await trl.openTerminal(sessionId.slice(0, -1));
        assert.equal(found.id, made.id);
        await using again = await trl.terminal({ sessionId, reuse: true });
        assert.equal(again.pid, made.pid);
      }
      assert.equal((await made.info()).state, "running");
      await made[Symbol.asyncDispose]();
      assert.equal((await made.info()).state, "exited");
      const name = `kept ${world.dir}`;
      {
        await using shared = await trl.terminal({ command: "cat", name, reuse: true });
        assert.equal(shared.name, name);
      }
      const kept = await trl.openTerminal(name);
      assert.equal((await kept.info()).state, "running");
      await kept.close();
      await failure("no such terminal", trl.openTerminal("no such terminal"), "SESSION_NOT_FOUND");
      await assert.rejects(trl.terminal({ reuse: true }), TypeError);
    },
  },
  {
    name: "terminal: a large paste arrives whole and in order",
    async run(world) {
      const trl = await world.connect();
      const out = world.path("pasted");
      const text = numbers(60_000);
      const take = `stty raw -echo; echo ready; head -c ${text.length} >${out}; echo done`;
      await using terminal = await trl.terminal({ command: take });
      await terminal.wait({ text: "ready" });
      const half = text.length / 2;
      await soon(
        "the paste",
        Promise.all([terminal.write(text.slice(0, half)), terminal.write(Buffer.from(text.slice(half)))]),
      );
      await terminal.wait({ text: "done" }, { timeoutS: 20 });
      const hash = (data: string | Buffer) => createHash("sha256").update(data).digest("hex");
      assert.equal(hash(readFileSync(out)), hash(text));
    },
  },
  {
    name: "terminal: another client sees the same, and whoever typed last decides the size",
    async run(world) {
      await using terminal = await (await world.connect()).terminal({ command: "cat" });
      const found = await (await world.another()).openTerminal(terminal.id);
      await terminal.write("typed here\n");
      assert.equal((await found.wait({ text: "typed here" })).matched, "text");
      assert.equal(await terminal.resize(100, 30), true);
      assert.equal(await found.resize(50, 12), false);
      await until("the size", async () => (await found.info()).cols === 100);
    },
  },
];
