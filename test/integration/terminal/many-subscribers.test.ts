// Many subscribers of one terminal: each sees all of its output, in order, whatever the others do.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { newTerminal, Watcher } from "../../support/terminal.ts";
import { until } from "../../support/wait.ts";
import type { Wire } from "../../support/wire.ts";

const token = "the right word";
let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startDaemon({ env: { TRL_AUTH_TOKEN: token } });
});
afterAll(() => daemon[Symbol.asyncDispose]());

/** Prints what is typed, once. */
async function quietCat(wire: Wire) {
  const terminal = await newTerminal(wire, {
    command: "sh",
    args: ["-c", "stty raw -echo; echo ready; exec cat"],
  });
  await terminal.waitFor("ready");
  return terminal;
}

async function watchers(count: number, session_id: string) {
  using stack = new DisposableStack();
  const all: { wire: Wire; watcher: Watcher }[] = [];
  for (let i = 0; i < count; i++) {
    const wire = stack.use(await daemon.connect());
    all.push({ wire, watcher: await Watcher.subscribe(wire, { session_id, replay: "none" }) });
  }
  const owned = stack.move();
  return { all, [Symbol.dispose]: () => owned.dispose() };
}

const piece = (i: number, bytes: number) => `<${i}>`.padEnd(bytes, String.fromCharCode(97 + (i % 26)));

describe("many watchers", () => {
  test("all see the same bytes, of whatever length, with sizes and newcomers in between", async () => {
    using wire = await daemon.connect();
    const terminal = await quietCat(wire);
    using first = await watchers(70, terminal.id);
    let typed = "";
    const type = async (i: number, bytes: number) => {
      typed += piece(i, bytes);
      await terminal.type(piece(i, bytes));
    };
    for (let i = 0; i < 40; i++) {
      await type(i, i % 10 === 0 ? 20_000 : 1 + ((i * 37) % 3000));
      if (i % 7 === 0) await wire.call("pty.resize", { session_id: terminal.id, cols: 81 + i, rows: 24 });
    }
    const length = Buffer.byteLength(typed);
    await until("all to have seen it", () => first.all.every(({ watcher }) => watcher.all.length >= length));
    using second = await watchers(5, terminal.id);
    for (let i = 0; i < 20; i++) await type(i, 10);
    const rest = typed.slice(length);
    await until("the newcomers, too", () =>
      second.all.every(({ watcher }) => watcher.all.length >= rest.length),
    );
    await until("the others", () => first.all.every(({ watcher }) => watcher.all.length >= typed.length));
    for (const { watcher } of first.all) expect(watcher.all.toString()).toBe(typed);
    for (const { watcher } of second.all) expect(watcher.all.toString()).toBe(rest);
    for (const { watcher } of [...first.all, ...second.all]) expect(watcher.isExact).toBe(true);
    const sizes = first.all.map(
      ({ watcher }) => watcher.frames.filter(({ type }) => type === "resize").length,
    );
    expect(new Set(sizes)).toEqual(new Set([6]));
  });

  // A socket takes all or nothing of a short frame, and a part of a long one.
  test.each([
    ["short", 150, 2500],
    ["long", 6, 60_000],
  ])("who does not read %s pieces holds nobody up, and misses nothing", async (_, count, bytes) => {
    using wire = await daemon.connect();
    const terminal = await quietCat(wire);
    using eight = await watchers(8, terminal.id);
    const slow = eight.all.slice(2, 4);
    const quick = [...eight.all.slice(0, 2), ...eight.all.slice(4)];
    for (const one of slow) one.wire.pause();
    let typed = "";
    const type = async (text: string, readers: typeof slow) => {
      typed += text;
      await terminal.type(text);
      const isSeen = () => readers.every(({ watcher }) => watcher.all.length === typed.length);
      await until("those who read to have seen it", isSeen);
    };
    for (let i = 0; i < count; i++) await type(piece(i, bytes), quick);
    for (const { watcher } of slow) expect(watcher.all.length).toBeLessThan(typed.length);
    for (const one of slow) one.wire.resume();
    await type("and on", eight.all);
    for (const { watcher } of eight.all) expect(watcher.all.toString()).toBe(typed);
    for (const { watcher } of eight.all) expect(watcher.isExact).toBe(true);
  });

  test("who types many keys at once and does not read sees each once, in order", async () => {
    using wire = await daemon.connect();
    const script = "stty raw; stty echo; echo ready; exec cat >/dev/null";
    const terminal = await newTerminal(wire, { command: "sh", args: ["-c", script] });
    await terminal.waitFor("ready");
    using others = await watchers(4, terminal.id);
    using typists = await watchers(3, terminal.id);
    for (const { wire } of typists.all) {
      wire.pause();
      wire.sendFrame({ type: "Auth", token });
    }
    let typed = "";
    for (let i = 0; i < 240; i++) {
      const keys = Array.from("0123456789", (digit) => `${i % 10}${digit}`);
      typed += keys.join("");
      // In this dialect nothing comes back but the echoes, the first of them while the other keys are there already.
      const frames = keys.map((data) => ({ type: "WriteInput", session_id: terminal.id, data }));
      typists.all[i % 3]!.wire.send(frames.map((frame) => `${JSON.stringify(frame)}\n`).join(""));
      await until("the others to see it", () => others.all[0]!.watcher.all.length === typed.length);
    }
    for (const { wire } of typists.all) wire.resume();
    for (const { watcher } of [...typists.all, ...others.all]) {
      await until("each to see it", () => watcher.all.length >= typed.length);
      expect(watcher.all.toString()).toBe(typed);
      expect(watcher.isExact).toBe(true);
    }
  });

  test("who goes takes nothing along, and nobody else hears what was meant for it", async () => {
    using wire = await daemon.connect();
    const terminal = await quietCat(wire);
    using stayers = await watchers(8, terminal.id);
    let typed = "";
    let isOver = false;
    const strangers = (async () => {
      while (!isOver) {
        using stranger = await daemon.connect();
        await stranger.call("system.ping", {});
        await stranger.call("system.ping", {});
        expect(stranger.frames.filter(({ type }) => type !== undefined)).toEqual([]);
      }
    })();
    for (let i = 0; i < 200; i++) {
      const goers = await Promise.all(Array.from({ length: 6 }, () => daemon.connect()));
      await Promise.all(
        goers.map((goer) => goer.call("pty.subscribe", { session_id: terminal.id, replay: "none" })),
      );
      typed += piece(i, 50);
      const echo = terminal.type(piece(i, 50));
      for (const goer of goers) goer[Symbol.dispose]();
      await echo;
    }
    isOver = true;
    await strangers;
    await until("those who stayed", () =>
      stayers.all.every(({ watcher }) => watcher.all.length === typed.length),
    );
    for (const { watcher } of stayers.all) expect(watcher.all.toString()).toBe(typed);
  });
});
