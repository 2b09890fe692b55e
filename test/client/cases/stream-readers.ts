// Who reads a command's output, how fast, and who else.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import type { Trl } from "trl/client";
import { type Case, failure, soon, until } from "../world.ts";
import { numbers, textOf } from "./streams.ts";

async function bytesPrinted(trl: Trl, id: string): Promise<number> {
  const { streams } = await trl.call("exec.list");
  return streams.find(({ stream_id }) => stream_id === id)!.stdout_bytes;
}

async function isEnded(trl: Trl, id: string): Promise<boolean> {
  const { streams } = await trl.call("exec.list");
  return streams.find(({ stream_id }) => stream_id === id)?.state === "ended";
}

export const streamReaders: Case[] = [
  {
    name: "stream: who is slow holds the command back, and nobody else",
    async run(world) {
      const trl = await world.connect();
      await using session = await trl.session();
      await using other = await trl.session();
      const total = 8 * 1024 * 1024;
      const stream = session.stream(`head -c ${total} /dev/zero | tr '\\0' x`, { maxOutputBytes: 500_000 });
      let seen = 0;
      for await (const { data } of stream) {
        if (seen === 0) {
          let last = -1;
          await until("the command to be held back", async () => {
            const before = last;
            last = await bytesPrinted(trl, stream.id);
            await other.run("sleep 0.1"); // answered meanwhile
            return before === last;
          });
          assert.ok(last < (total * 3) / 4, `${last} bytes were printed while nobody read`);
        }
        seen += data.length;
      }
      assert.equal(seen, total);
    },
  },
  {
    name: "stream: leaving the loop leaves the command alone, and a second loop goes on",
    async run(world) {
      const trl = await world.connect();
      await using session = await trl.session();
      const stream = session.stream("seq 1 300000", { maxOutputBytes: 4_000_000 });
      let text = "";
      for (let loops = 1; ; loops++) {
        let chunks = 0;
        for await (const { data, missing } of stream) {
          assert.equal(missing, 0);
          text += data;
          if (++chunks === 3) break;
        }
        if (loops === 2) await until("the command to go on alone", () => isEnded(trl, stream.id));
        if (chunks < 3) break;
      }
      assert.equal(text === numbers(300_000), true);
      assert.equal((await stream.exited).exitCode, 0);
    },
  },
  {
    name: "stream: a loop that is left within a character loses nothing of it",
    async run(world) {
      await using session = await (await world.connect()).session();
      const go = world.path("go");
      const line = String.raw`printf 'a\342\202'; until [ -e ${go} ]; do sleep 0.05; done; printf '\254b'`;
      const stream = session.stream(line);
      let text = "";
      for await (const { data } of stream) {
        text += data;
        break;
      }
      writeFileSync(go, "");
      for await (const { data } of stream) text += data;
      assert.equal(text, "a€b");
    },
  },
  {
    name: "stream: who was let go for being slow comes back where it was",
    async run(world) {
      const trl = await world.connect();
      await using session = await trl.session();
      const stream = session.stream("seq 1 300000", { stallTimeoutS: 0.2, maxOutputBytes: 8_000_000 });
      let text = "";
      for await (const { data, missing } of stream) {
        assert.equal(missing, 0);
        if (text === "") await until("the command to go on alone", () => isEnded(trl, stream.id));
        text += data;
      }
      assert.equal(text === numbers(300_000), true);
    },
  },
  {
    name: "stream: who was let go can still wait for the end",
    async run(world) {
      const trl = await world.connect();
      await using session = await trl.session();
      const options = { stallTimeoutS: 0.2, maxOutputBytes: 8_000_000 };
      const unread = session.stream("seq 1 300000", options);
      await until("the command to go on alone", () => isEnded(trl, unread.id));
      assert.equal((await soon("the end", unread.exited)).exitCode, 0);
      const left = session.stream("seq 1 300000", options);
      for await (const _ of left) {
        await until("the command to go on alone", () => isEnded(trl, left.id));
        break;
      }
      assert.equal((await soon("the end after a loop", left.exited)).exitCode, 0);
    },
  },
  {
    name: "stream: two at once have each their own",
    async run(world) {
      const trl = await world.connect();
      await using one = await trl.session();
      await using two = await trl.session();
      const [first, second] = await Promise.all([
        textOf(one.stream("seq 1 100000")),
        textOf(two.stream("seq 1 100000 >&2")),
      ]);
      assert.equal(first.stdout === numbers(100_000), true);
      assert.equal(second.stderr === numbers(100_000), true);
      assert.equal(first.stderr + second.stdout, "");
    },
  },
  {
    name: "follow: by another client, from the beginning or from an offset, also after the end",
    async run(world) {
      const trl = await world.connect();
      await using session = await trl.session();
      const go = world.path("go");
      const stream = session.stream(`echo one; until [ -e ${go} ]; do sleep 0.05; done; echo two; exit 3`);
      await stream.started;
      const another = await world.another();
      const followed = another.follow(stream.id);
      let text = "";
      for await (const { data } of followed) {
        text += data;
        writeFileSync(go, "");
      }
      assert.equal(text, "one\ntwo\n");
      assert.equal((await followed.exited).exitCode, 3);
      assert.equal((await textOf(stream)).stdout, text);
      assert.equal((await textOf(another.follow(stream.id, { stdoutOffset: 4 }))).stdout, "two\n");
      await failure("nothing there", another.follow("x-00000000").exited, "STREAM_NOT_FOUND");
    },
  },
  {
    name: "follow: what this client reads already is refused, and the first is not disturbed",
    async run(world) {
      const trl = await world.connect();
      await using session = await trl.session();
      const go = world.path("go");
      const stream = session.stream(`echo one; until [ -e ${go} ]; do sleep 0.05; done; seq 1 1000`);
      await stream.started;
      await failure("a second reader", trl.follow(stream.id).exited, "INVALID_PARAMS");
      writeFileSync(go, "");
      assert.equal((await soon("the first", textOf(stream))).stdout, `one\n${numbers(1000)}`);
      assert.equal((await textOf(trl.follow(stream.id))).stdout, `one\n${numbers(1000)}`);
    },
  },
];
