import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import type { Chunk } from "trl/client";
import { type Case, failure, soon, until } from "../world.ts";

export async function textOf(chunks: AsyncIterable<Chunk>): Promise<Record<"stdout" | "stderr", string>> {
  const texts = { stdout: "", stderr: "" };
  for await (const { type, data } of chunks) texts[type] += data;
  return texts;
}

/** Numbered lines: whatever is lost, doubled or out of order is seen. */
export const numbers = (last: number): string =>
  Array.from({ length: last }, (_, index) => `${index + 1}\n`).join("");

export const streams: Case[] = [
  {
    name: "stream: gives what comes, in order, and how it ended",
    async run(world) {
      await using session = await (await world.connect()).session();
      const stream = session.stream("seq 1 20000; echo problem >&2; exit 5");
      await stream.started;
      assert.match(stream.id, /^x-[0-9a-f]{12}$/);
      const { stdout, stderr } = await textOf(stream);
      assert.equal(stdout, numbers(20000));
      assert.equal(stderr, "problem\n");
      const exit = await stream.exited;
      assert.equal(exit.exitCode, 5);
      assert.equal(exit.reason, "exit");
      assert.equal(exit.stdoutBytes, stdout.length);
    },
  },
  {
    name: "stream: comes as it is printed, with the offset of each piece",
    async run(world) {
      await using session = await (await world.connect()).session();
      const go = world.path("go");
      const stream = session.stream(`echo äone; until [ -e ${go} ]; do sleep 0.05; done; echo two`);
      const seen: Chunk[] = [];
      for await (const chunk of stream) {
        seen.push(chunk);
        writeFileSync(go, "");
      }
      assert.deepEqual(seen, [
        { type: "stdout", data: "äone\n", offset: 0, missing: 0 },
        { type: "stdout", data: "two\n", offset: 6, missing: 0 },
      ]);
    },
  },
  {
    name: "stream: a character that comes in two pieces is one, and a byte order mark is kept",
    async run(world) {
      await using session = await (await world.connect()).session();
      const pieces = String.raw`printf '\357\273\277a\342'; sleep 0.2; printf '\202'; sleep 0.2; printf '\254b\360\237'`;
      const seen: Chunk[] = [];
      for await (const chunk of session.stream(pieces)) seen.push(chunk);
      assert.equal(seen.map(({ data }) => data).join(""), "\ufeffa€b\ufffd");
      assert.ok(seen.every(({ data }) => data !== ""));
      for (const { data, offset } of seen.filter(({ data }) => data.startsWith("€")))
        assert.equal(offset, 4, data);
    },
  },
  {
    name: "stream: megabytes arrive as they are, as bytes and as text",
    async run(world) {
      await using session = await (await world.connect()).session();
      const input = world.path("input");
      const bytes = new Uint8Array(3 * 1024 * 1024 + 13);
      for (let at = 0; at < bytes.length; at++) bytes[at] = (at * 7919) >> 5;
      writeFileSync(input, bytes);
      const hash = createHash("sha256");
      for await (const { data } of session.stream(`cat ${input}`, { encoding: "bytes" })) hash.update(data);
      assert.equal(hash.digest("hex"), createHash("sha256").update(bytes).digest("hex"));
      const text = "wörter – 言葉 🎈\n".repeat(70_000);
      writeFileSync(input, text);
      const { stdout } = await textOf(session.stream(`cat ${input}`));
      assert.equal(stdout === text, true);
    },
  },
  {
    name: "stream: how it ended is known without reading, however much it prints",
    async run(world) {
      await using session = await (await world.connect()).session();
      const exit = await soon("the end", session.stream("seq 1 400000; exit 2").exited);
      assert.equal(exit.exitCode, 2);
      assert.equal(exit.stdoutBytes, 2688895);
    },
  },
  {
    name: "stream: whoever asks for the end first can read all the same",
    async run(world) {
      await using session = await (await world.connect()).session();
      const stream = session.stream("seq 1 1000");
      const [exit, { stdout }] = await soon("both", Promise.all([stream.exited, textOf(stream)]));
      assert.equal(exit.exitCode, 0);
      assert.equal(stdout, numbers(1000));
    },
  },
  {
    name: "stream: write and end, also before it is known to have started",
    async run(world) {
      await using session = await (await world.connect()).session();
      const stream = session.stream("cat", { openStdin: true });
      const text = numbers(100_000);
      const written = (async () => {
        await stream.write("ä\n");
        await Promise.all([stream.write(text), stream.write(new Uint8Array([0x7a, 0x0a]))]);
        await stream.end();
      })();
      const [{ stdout }] = await soon("the echo", Promise.all([textOf(stream), written]));
      assert.equal(stdout === `ä\n${text}z\n`, true);
      await failure("write after the end", stream.write("x"), "INVALID_PARAMS", "STREAM_NOT_FOUND");
    },
  },
  {
    name: "stream: cancel stops it, a signal is only sent",
    async run(world) {
      await using session = await (await world.connect()).session();
      const stream = session.stream('trap "echo heard" USR1; echo ready; while :; do sleep 0.05; done');
      let text = "";
      for await (const { type, data } of stream) {
        if (type === "stderr") continue; // what the shell says of its children
        text += data;
        if (data.includes("ready")) assert.equal(await stream.cancel("SIGUSR1"), true);
        if (data.includes("heard")) assert.equal(await stream.cancel(), true);
      }
      assert.equal(text, "ready\nheard\n");
      assert.equal((await stream.exited).reason, "cancelled");
      assert.equal(await stream.cancel(), false);
    },
  },
  {
    name: "stream: a signal stops it, and whoever reads or waits gets its reason",
    async run(world) {
      await using session = await (await world.connect()).session();
      const aborting = new AbortController();
      const reason = new Error("enough");
      const stream = session.stream("echo begun; sleep 60", { signal: aborting.signal });
      const seen: string[] = [];
      const reading = (async () => {
        for await (const { data } of stream) {
          seen.push(data);
          aborting.abort(reason);
        }
      })();
      await assert.rejects(soon("the loop", reading), reason);
      await assert.rejects(soon("the end", stream.exited), reason);
      assert.deepEqual(seen, ["begun\n"]);
      assert.equal((await session.run("printf usable")).stdout, "usable");
      assert.throws(() => session.stream("true", { signal: aborting.signal }), reason);
    },
  },
  {
    name: "stream: what cannot start is told to all who wait",
    async run(world) {
      await using session = await (await world.connect()).session();
      const first = session.stream("sleep 60");
      await first.started;
      const second = session.stream("true");
      await failure("started", second.started, "SESSION_BUSY");
      await failure("the loop", textOf(second), "SESSION_BUSY");
      await failure("the end", second.exited, "SESSION_BUSY");
      session.stream("true"); // nobody waits for it, and nobody is bothered
      await first.cancel();
      await first.exited;
    },
  },
  {
    name: "stream: disposing of it stops the command, and settles what waits",
    async run(world) {
      await using session = await (await world.connect()).session();
      const mark = world.path("mark");
      let exited: Promise<unknown>;
      {
        await using stream = session.stream(`touch ${mark}; sleep 60`);
        exited = stream.exited;
        await until("its beginning", () => existsSync(mark));
      }
      await soon("the end", exited);
      assert.equal((await session.run("printf usable")).stdout, "usable");
      const read = session.stream("sleep 60");
      const reading = textOf(read);
      await read[Symbol.asyncDispose]();
      await soon("the loop", reading);
      assert.equal((await read.exited).reason, "cancelled");
    },
  },
];
