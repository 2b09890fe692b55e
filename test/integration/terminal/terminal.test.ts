// Terminals over the wire: subscribe, resume, gaps, sizes, snapshots, waiting, exit records.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { isAlive, residentBytes } from "../../support/processes.ts";
import { Display } from "../../support/screen.ts";
import { cpuSeconds } from "../../support/starved.ts";
import { newTerminal, Watcher } from "../../support/terminal.ts";
import { testExceptOver, testInFullOver, testOnce } from "../../support/transport.ts";
import { until } from "../../support/wait.ts";
import type { Wire } from "../../support/wire.ts";

let daemon: TestDaemon;
let wire: Wire;
beforeAll(async () => {
  daemon = await startDaemon({ flags: ["--max-sessions", "1000"] });
  wire = await daemon.connect();
});
afterAll(() => daemon[Symbol.asyncDispose]());

const numbered = (count: number) => `i=0; while [ $i -lt ${count} ]; do i=$((i+1)); echo "line $i"; done`;

describe("pty.create", () => {
  test("starts an interactive shell that is a session among others", async () => {
    const terminal = await newTerminal(wire, { name: "work" });
    expect(terminal).toMatchObject({ cols: 80, rows: 24, name: "work", state: "running", exit_code: null });
    expect(terminal.id).toMatch(/^s-[0-9a-f]{8}$/);
    await terminal.waitForRegex("[$#] $");
    const { sessions } = await wire.call("session.list", {});
    expect(sessions.find(({ session_id }) => session_id === terminal.id)).toMatchObject({
      kind: "pty",
      state: "running",
    });
    const info = await wire.call("session.info", { session_id: terminal.id });
    expect(info.env_keys).toContain("TERM");
    expect(info.processes).toBeGreaterThan(0);
    expect((await wire.fail("exec.run", { session_id: terminal.id, command: "true" })).code).toBe(
      "INVALID_PARAMS",
    );
    await wire.call("session.destroy", { session_id: terminal.id });
    expect(isAlive(terminal.pid)).toBe(false);
    const after = await wire.call("session.list", {});
    expect(after.sessions.some(({ session_id }) => session_id === terminal.id)).toBe(false);
  });

  test("takes a line for the shell, with a shell of choice", async () => {
    const terminal = await newTerminal(wire, { command: "echo $0 $((6*7)) | cat", shell: "/bin/sh" });
    await terminal.waitFor("/bin/sh 42");
  });

  test("takes an id of choice once", async () => {
    await newTerminal(wire, { session_id: "mine", command: "sleep 1000" });
    expect(await wire.fail("pty.create", { session_id: "mine" })).toMatchObject({ code: "INVALID_PARAMS" });
    const exec = await wire.call("session.create", {});
    expect((await wire.fail("pty.create", { session_id: exec.session_id })).code).toBe("INVALID_PARAMS");
    await wire.call("pty.close", { session_id: "mine" });
    await newTerminal(wire, { session_id: "mine", command: "echo again; sleep 1000" });
    await wire.call("pty.wait", { session_id: "mine", until: { text: "again" }, timeout_s: 10 });
    await wire.call("pty.close", { session_id: "mine" });
  });

  test.each([
    [{ cols: 0 }, "cols"],
    [{ rows: 1.5 }, "rows"],
    [{ cols: 100000 }, "cols"],
    [{ cols: 1000, rows: 1000 }, "cells"],
    [{ session_id: "a b" }, "session_id"],
    [{ session_id: 'x"y' }, "session_id"],
    [{ args: ["x"] }, "command"],
    [{ shell: "/no/shell" }, "shell"],
    [{ working_dir: "/no/dir" }, "working_dir"],
    [{ driver: "other" }, "driver"],
    [{ env: { "A=B": "x" } }, "env"],
    [{ command: "a\0b" }, "command"],
  ])("refuses %j and names the field", async (params, field) => {
    const { code, message } = await wire.fail("pty.create", params);
    expect(code).toBe("INVALID_PARAMS");
    expect(message).toContain(field);
  });

  test("counts as a session against the limit", async () => {
    await using small = await startDaemon({ flags: ["--max-sessions", "2"] });
    using its = await small.connect();
    await its.call("session.create", {});
    const terminal = await newTerminal(its, { command: "sleep 1000" });
    expect((await its.fail("pty.create", {})).code).toBe("MAX_SESSIONS_REACHED");
    await its.call("pty.close", { session_id: terminal.id });
    await newTerminal(its, { command: "sleep 1000" });
  });

  testExceptOver(["http"], "each request comes on its own")(
    "and what is pipelined behind it finds the terminal",
    async () => {
      using own = await daemon.connect();
      own.send(
        [
          { id: 1, method: "pty.create", params: { session_id: "piped", command: "cat" } },
          { id: 2, method: "pty.write", params: { session_id: "piped", data: "one\n" } },
          { id: 3, method: "pty.write", params: { session_id: "piped", data: "two\n" } },
          {
            id: 4,
            method: "pty.wait",
            params: {
              session_id: "piped",
              until: { regex: "(?=([^]*one){2})(?=([^]*two){2})" },
              timeout_s: 10,
            },
          },
          { id: 5, method: "pty.subscribe", params: { session_id: "piped", from: 0 } },
        ]
          .map((request) => `${JSON.stringify(request)}\n`)
          .join(""),
      );
      expect(await own.frame((frame) => frame["id"] === 4)).toMatchObject({
        ok: true,
        data: { matched: "regex" },
      });
      await own.call("pty.close", { session_id: "piped" });
    },
  );
});

describe("pty.subscribe", () => {
  test("resumes from any offset, no byte lost or doubled, while it runs and after the end", async () => {
    const terminal = await newTerminal(wire, { command: numbered(3000) });
    using one = await daemon.connect();
    const whole = await Watcher.subscribe(one, { session_id: terminal.id, from: 0 });
    await whole.untilExit();
    const expected = Array.from({ length: 3000 }, (_, n) => `line ${n + 1}\r\n`).join("");
    expect(whole.all.toString() === expected).toBe(true);
    for (const from of [0, 1, 777, expected.length - 1, expected.length]) {
      using again = await daemon.connect();
      const rest = await Watcher.subscribe(again, { session_id: terminal.id, from });
      await rest.untilExit();
      expect(rest.all.toString() === expected.slice(from)).toBe(true);
      expect(rest.isExact).toBe(true);
    }
    const { code, message } = await wire.fail("pty.subscribe", {
      session_id: terminal.id,
      from: expected.length + 1,
    });
    expect([code, message.startsWith("from:")]).toEqual(["INVALID_PARAMS", true]);
  });

  test("a client that comes back during a flood goes on where it was", async () => {
    const terminal = await newTerminal(wire, { command: `${numbered(20_000)}; sleep 1000` });
    const end = "line 20000\r\n";
    const parts: Buffer[] = [];
    for (let from = 0, round = 0; ; round++) {
      using own = await daemon.connect();
      const watcher = await Watcher.subscribe(own, { session_id: terminal.id, from });
      await until("some output", () => watcher.end > from || parts.length > 0);
      const isEnd = () =>
        Buffer.concat([...parts.slice(-1), watcher.all])
          .toString()
          .endsWith(end);
      if (round >= 5) await until("the last line", isEnd);
      parts.push(watcher.all);
      from = watcher.end;
      if (isEnd() || round >= 5) break;
    }
    const expected = Array.from({ length: 20_000 }, (_, n) => `line ${n + 1}\r\n`).join("");
    expect(Buffer.concat(parts).toString() === expected).toBe(true);
    await wire.call("pty.close", { session_id: terminal.id });
  });

  test("draws the screen of a terminal that is there already, then goes on", async () => {
    const terminal = await newTerminal(wire, { cols: 60, rows: 12 });
    await terminal.waitForRegex("[$#] $");
    await terminal.type(
      "printf '\\033[31mred\\033[0m \\033[7mback\\033[0m 漢字\\n'; printf '\\033]2;a title\\007'\r",
    );
    await terminal.waitFor("red back");
    const watcher = await Watcher.subscribe(wire, { session_id: terminal.id });
    await until("the redraw", () => watcher.frames.length > 0);
    expect(watcher.frames[0]).toMatchObject({ type: "output", redraw: true });
    // The prompt may come between the redraw and the snapshot, and frames may come behind a reply.
    const showsTheSame = async () =>
      Bun.deepEquals(watcher.display.lines, (await terminal.snapshot()).lines as string[]);
    await until("the same screen", showsTheSame);
    await terminal.type("echo li''ve\r");
    await terminal.waitFor("live");
    await until("the same screen again", showsTheSame);
    expect(watcher.isExact).toBe(true);
    await wire.call("pty.close", { session_id: terminal.id });
  });

  test('with replay "none" gives only what comes', async () => {
    const terminal = await newTerminal(wire, { command: "echo before; cat" });
    await terminal.waitFor("before");
    const watcher = await Watcher.subscribe(wire, { session_id: terminal.id, replay: "none" });
    await terminal.type("after\n");
    await until("what was typed", () => watcher.all.includes("after"));
    expect(watcher.all.toString()).not.toContain("before");
    expect(watcher.frames.some(({ redraw }) => redraw)).toBe(false);
    await wire.call("pty.close", { session_id: terminal.id });
  });

  test("brings the history above the screen where it is asked for", async () => {
    const terminal = await newTerminal(wire, { command: `${numbered(200)}; sleep 1000`, rows: 10 });
    await terminal.waitFor("line 200");
    using own = await daemon.connect();
    const watcher = await Watcher.subscribe(own, { session_id: terminal.id, scrollback: 50 });
    await until("the redraw", () => watcher.frames.length > 0);
    expect(watcher.display.terminal.buffer.active.baseY).toBe(50);
    expect((await terminal.snapshot({ scrollback: 3 })).lines).toHaveLength(13);
    await wire.call("pty.close", { session_id: terminal.id });
  });

  test("eight subscribers get identical bytes", async () => {
    const terminal = await newTerminal(wire, { command: `read go; ${numbered(30_000)}` });
    const wires = await Promise.all(Array.from({ length: 8 }, () => daemon.connect()));
    const watchers = await Promise.all(
      wires.map((own) => Watcher.subscribe(own, { session_id: terminal.id, from: 0 })),
    );
    await terminal.type("go\n");
    await Promise.all(watchers.map((watcher) => watcher.untilExit()));
    const hashes = new Set(watchers.map(({ all }) => Bun.hash(all)));
    expect(hashes.size).toBe(1);
    expect(watchers.every(({ isExact }) => isExact)).toBe(true);
    for (const own of wires) own[Symbol.dispose]();
  });

  testInFullOver(
    "http",
    "stdin",
    "runtime",
  )("one that does not read costs the others nothing, and gets a gap and a fresh screen", async () => {
    await using alone = await startDaemon();
    using control = await alone.connect();
    // More than the ring holds, but no faster than a busy machine can read it.
    const piece = "yes 'a line that is repeated' | head -c 240000; sleep 0.02";
    const flood = `i=0; while [ $i -lt 50 ]; do i=$((i+1)); ${piece}; done; echo`;
    const terminal = await newTerminal(control, {
      command: `read go; ${flood}; echo ONE; read go; ${flood}; echo TWO; cat`,
    });
    using quick = await alone.connect();
    quick.keepsFrames = false;
    const live = await Watcher.subscribe(quick, { session_id: terminal.id, from: 0 });
    live.keeps = false;
    const residentMb = () => residentBytes(alone.pid) / 1024 / 1024;
    await terminal.type("go\n");
    await until("the first end", () => live.tail.includes("ONE"));
    const before = residentMb();

    using slow = await alone.connect();
    const stalled = await Watcher.subscribe(slow, { session_id: terminal.id, replay: "none" });
    slow.pause();
    await terminal.type("go\n");
    await until("the second end", () => live.tail.includes("TWO"));
    expect(live.isExact).toBe(true);
    expect(live.frames.some(({ type }) => type === "gap")).toBe(false);
    expect(residentMb() - before).toBeLessThan(24);

    slow.resume();
    await until("the gap", () => stalled.frames.some(({ type }) => type === "gap"));
    const display = new Display(80, 24);
    display.write((await terminal.snapshot({ format: "ansi" })).data!);
    const wanted = JSON.stringify(display.picture);
    await until("the same screen", () => JSON.stringify(stalled.display.picture) === wanted);
    const gap = stalled.frames.findIndex(({ type }) => type === "gap");
    expect(stalled.frames[gap + 1]).toMatchObject({ type: "output", redraw: true });
    expect(stalled.frames[gap]!["to"]).toBeGreaterThan(stalled.frames[gap]!["from"]);
  });

  testExceptOver(["http"], "each request is a client of its own")(
    "a second subscription of a connection takes the place of the first; unsubscribing ends it",
    async () => {
      using own = await daemon.connect();
      const terminal = await newTerminal(own, { command: "stty -echo; echo ready; cat" });
      await terminal.waitFor("ready");
      await own.call("pty.subscribe", { session_id: terminal.id, replay: "none" });
      await own.call("pty.subscribe", { session_id: terminal.id, replay: "none" });
      await terminal.type("once\n");
      await terminal.waitFor("once");
      const outputs = () => own.frames.filter(({ type }) => type === "output");
      expect(Buffer.concat(outputs().map(({ data }) => Buffer.from(data, "base64"))).toString()).toBe(
        "once\r\n",
      );
      expect((await terminal.summary()).subscribers).toBe(1);
      expect(await own.call("pty.unsubscribe", { session_id: terminal.id })).toMatchObject({
        unsubscribed: true,
      });
      expect(await own.call("pty.unsubscribe", { session_id: terminal.id })).toMatchObject({
        unsubscribed: false,
      });
      const seen = outputs().length;
      await terminal.type("twice\n");
      await terminal.waitFor("twice");
      await own.call("system.ping", {});
      expect(outputs().length).toBe(seen);
      await own.call("pty.close", { session_id: terminal.id });
    },
  );

  testExceptOver(["websocket", "http"], "there is no half-close")(
    "to a half-closed client goes on until the program ends",
    async () => {
      using own = await daemon.connect();
      const terminal = await newTerminal(wire, { command: "read go; echo bye" });
      own.sendFrame({ id: 1, method: "pty.subscribe", params: { session_id: terminal.id, from: 0 } });
      own.endInput();
      await own.frame((frame) => frame["id"] === 1);
      await terminal.type("go\n");
      expect(await own.frame((frame) => frame["type"] === "exit")).toMatchObject({ exit_code: 0 });
      await own.untilClosed();
    },
  );
});

describe("the size", () => {
  test("is told to subscribers in its place, and what is the same is no change", async () => {
    const terminal = await newTerminal(wire, { command: "cat" });
    const watcher = await Watcher.subscribe(wire, { session_id: terminal.id, from: 0 });
    const resize = (cols: number, rows: number) =>
      wire.call("pty.resize", { session_id: terminal.id, cols, rows });
    expect(await resize(90, 30)).toMatchObject({ cols: 90, rows: 30, applied: true });
    await resize(90, 30);
    await resize(91, 30);
    await until("both changes", () => watcher.frames.filter(({ type }) => type === "resize").length >= 2);
    expect(watcher.frames.filter(({ type }) => type === "resize")).toMatchObject([
      { cols: 90, rows: 30 },
      { cols: 91, rows: 30 },
    ]);
    await wire.call("pty.close", { session_id: terminal.id });
  });

  testExceptOver(["http"], "each request is a client of its own")(
    "is decided by the last client that typed, not by observers, and stays when all leave",
    async () => {
      const terminal = await newTerminal(wire, { command: "cat" });
      const size = async () => {
        const { cols, rows } = await terminal.summary();
        return [cols, rows];
      };
      const { session_id } = terminal;
      {
        using typist = await daemon.connect();
        using observer = await daemon.connect();
        await typist.call("pty.resize", { session_id, cols: 100, rows: 40 });
        await typist.call("pty.write", { session_id, data: "x" });
        expect(await observer.call("pty.resize", { session_id, cols: 50, rows: 10 })).toMatchObject({
          applied: false,
          cols: 100,
          rows: 40,
        });
        expect(await size()).toEqual([100, 40]);
        await observer.call("pty.write", { session_id, data: "y" });
        expect(await size()).toEqual([50, 10]);
        await typist.call("pty.write", { session_id, data: "z" });
        expect(await size()).toEqual([100, 40]);
      }
      expect(await size()).toEqual([100, 40]);
      using next = await daemon.connect();
      await until("the typist is gone", async () => {
        const { applied } = await next.call("pty.resize", { session_id, cols: 70, rows: 20 });
        return applied;
      });
      expect(await size()).toEqual([70, 20]);
      await wire.call("pty.close", { session_id });
    },
  );
});

describe("pty.snapshot", () => {
  test("is the screen as one reads it", async () => {
    const terminal = await newTerminal(wire, {
      command: "printf '\\033]2;my title\\007'; printf 'first\\nsec\\033[1mond\\033[0m'; sleep 1000",
      cols: 20,
      rows: 4,
    });
    await terminal.waitFor("second");
    const screen = await terminal.snapshot();
    expect(screen).toEqual({
      lines: ["first", "second", "", ""],
      cursor: { row: 1, col: 6, visible: true },
      cols: 20,
      rows: 4,
      title: "my title",
      alternate_screen: false,
      offset: screen.offset,
    });
    const { data } = await terminal.snapshot({ format: "ansi" });
    const display = new Display(20, 4);
    display.write(data!);
    expect(display.lines).toEqual(["first", "second", "", ""]);
    await wire.call("pty.close", { session_id: terminal.id });
  });

  test("can keep its colours and nothing else, also after the end", async () => {
    const command =
      "printf 'a\\033[1;31mred\\033[0m b \\n\\033[?1000h\\033[44m  \\033[0m\\033[3;1Hend'; read a";
    const terminal = await newTerminal(wire, { command, cols: 20, rows: 4 });
    await terminal.waitFor("end");
    const lines = ["a\x1b[0;1;31mred\x1b[0m b ", "\x1b[0;44m  \x1b[0m", "end", ""];
    expect((await terminal.snapshot({ format: "styled" })).lines).toEqual(lines);
    await terminal.type("\n");
    await terminal.waitForExit();
    expect((await terminal.snapshot({ format: "styled" })).lines).toEqual(lines);
  });
});

describe("pty.wait", () => {
  test("finds text that is there, that comes, and that only flies by", async () => {
    const terminal = await newTerminal(wire, { command: "echo here; read a; echo NEEDLE; seq 1 500; cat" });
    await terminal.waitFor("here");
    const passing = terminal.waitFor("NEEDLE");
    await terminal.type("go\n");
    await passing;
    await terminal.waitFor("500");
    const late = await wire.call("pty.wait", {
      session_id: terminal.id,
      until: { text: "NEEDLE" },
      timeout_s: 0.05,
    });
    expect(late.matched).toBe("timeout");
    await wire.call("pty.close", { session_id: terminal.id });
  });

  test("matches a long line although the screen breaks it", async () => {
    const terminal = await newTerminal(wire, { command: `echo ${"x".repeat(30)}needle; cat`, cols: 33 });
    await terminal.waitForRegex("^x{30}needle$");
    await wire.call("pty.close", { session_id: terminal.id });
  });

  testOnce()("waits for silence, counted from now", async () => {
    const terminal = await newTerminal(wire, {
      command: "for i in 1 2 3 4 5; do echo $i; sleep 0.1; done; cat",
    });
    const { matched, screen } = await wire.call("pty.wait", {
      session_id: terminal.id,
      until: { idle_ms: 400 },
      timeout_s: 10,
    });
    expect(matched).toBe("idle");
    expect(screen.lines!.slice(0, 5)).toEqual(["1", "2", "3", "4", "5"]);
    const began = performance.now();
    await wire.call("pty.wait", { session_id: terminal.id, until: { idle_ms: 200 } });
    expect(performance.now() - began).toBeGreaterThan(190);
    await wire.call("pty.close", { session_id: terminal.id });
  });

  test("ends with the program, whatever it waits for", async () => {
    const terminal = await newTerminal(wire, { command: "read go; echo last words; exit 3" });
    const waiting = wire.call("pty.wait", {
      session_id: terminal.id,
      until: { text: "never" },
      timeout_s: 20,
    });
    await terminal.type("go\n");
    const { matched, screen } = await waiting;
    expect(matched).toBe("exit");
    expect(screen.lines!.join("\n")).toContain("last words");
    const after = await wire.call("pty.wait", { session_id: terminal.id, until: { text: "last words" } });
    expect(after.matched).toBe("text");
  });

  test.each([[{}], [{ regex: "(" }], [{ text: "" }], [{ idle_ms: -1 }], [{ exit: false }]])(
    "refuses %j",
    async (condition) => {
      const terminal = await newTerminal(wire, { command: "true" });
      const error = await wire.fail("pty.wait", { session_id: terminal.id, until: condition });
      expect(error.code).toBe("INVALID_PARAMS");
    },
  );
});

describe("after the end", () => {
  test("code, signal, last screen and last output are there for those who come late", async () => {
    const terminal = await newTerminal(wire, { command: "echo bye; kill -TERM $$" });
    await terminal.waitForExit();
    expect(await terminal.summary()).toMatchObject({ state: "exited", exit_code: 143, signal: "SIGTERM" });
    expect((await terminal.snapshot()).lines![0]).toBe("bye");
    const watcher = await Watcher.subscribe(wire, { session_id: terminal.id });
    expect(await watcher.untilExit()).toMatchObject({ exit_code: 143, signal: "SIGTERM" });
    expect(watcher.display.lines[0]).toBe("bye");
    expect((await wire.fail("pty.write", { session_id: terminal.id, data: "x" })).code).toBe(
      "SESSION_NOT_FOUND",
    );
    expect((await wire.fail("pty.resize", { session_id: terminal.id, cols: 9, rows: 9 })).code).toBe(
      "SESSION_NOT_FOUND",
    );
    expect(await wire.call("pty.close", { session_id: terminal.id })).toMatchObject({ exit_code: 143 });
  });

  testOnce()("also of a program that printed more than is kept", async () => {
    const terminal = await newTerminal(wire, { command: "seq 1 1500000", rows: 6 });
    await terminal.waitForExit(30);
    const { lines } = await terminal.snapshot({ scrollback: 2 });
    expect(lines).toEqual(["1499994", "1499995", "1499996", "1499997", "1499998", "1499999", "1500000", ""]);
    await terminal.waitFor("1499999");
    await terminal.waitForRegex("^1500000$");
    const watcher = await Watcher.subscribe(wire, { session_id: terminal.id, from: 0 });
    await watcher.untilExit();
    expect(watcher.display.terminal.buffer.active.baseY).toBe(0);
    expect(watcher.frames[0]).toMatchObject({ type: "gap", from: 0 });
    expect(watcher.display.lines.slice(0, 6)).toEqual([
      "1499996",
      "1499997",
      "1499998",
      "1499999",
      "1500000",
      "",
    ]);
  });

  test("a terminal survives its creator", async () => {
    const creator = await daemon.connect();
    const terminal = await newTerminal(creator, { command: "read go; echo alive; cat" });
    creator[Symbol.dispose]();
    await wire.call("pty.write", { session_id: terminal.id, data: "go\n" });
    expect((await wire.call("pty.wait", { session_id: terminal.id, until: { text: "alive" } })).matched).toBe(
      "text",
    );
    await wire.call("pty.close", { session_id: terminal.id });
  });

  testExceptOver(["runtime"], "the end of the daemon in front is another matter")(
    "the daemon's end is the end of every terminal, and tells those who watch",
    async () => {
      const other = await startDaemon();
      using its = await other.connect();
      const terminal = await newTerminal(its, {
        command: "trap '' HUP TERM; echo ready; sleep 1000 & sleep 1001",
      });
      await terminal.waitFor("ready");
      const watcher = await Watcher.subscribe(its, { session_id: terminal.id });
      await other[Symbol.asyncDispose]();
      expect(isAlive(terminal.pid)).toBe(false);
      expect(watcher.exit).toMatchObject({ signal: "SIGKILL" });
    },
  );
});

describe("where it is easy to go wrong:", () => {
  testOnce()("^S stops a flood every time, ^Q lets it go on", async () => {
    const terminal = await newTerminal(wire, { command: "yes" });
    const offset = async () => (await terminal.summary()).offset;
    for (let round = 0; round < 5; round++) {
      const before = await offset();
      await until("a flood", async () => (await offset()) > before + 500_000);
      await terminal.type("\x13");
      let last = -1;
      await until("silence", async () => {
        const now = await offset();
        const isSilent = now === last;
        last = now;
        await Bun.sleep(120); // longer than any turn
        return isSilent;
      });
      await terminal.type("\x11");
    }
    await wire.call("pty.close", { session_id: terminal.id });
  });

  testOnce("linux")("a thousand sizes cost no more than the last", async () => {
    const terminal = await newTerminal(wire, { command: "seq 1 3000; exec cat" });
    await terminal.waitFor("3000");
    using slow = await daemon.connect();
    const watcher = await Watcher.subscribe(slow, { session_id: terminal.id, replay: "none" });
    const sizes = Array.from({ length: 1000 }, (_, n) => ({ cols: 40 + (n % 100), rows: 10 + (n % 40) }));
    await Promise.all(sizes.map((size) => wire.call("pty.resize", { session_id: terminal.id, ...size })));
    await Bun.sleep(2500); // long enough for the emulator to be given back
    const before = cpuSeconds(daemon.pid);
    expect((await terminal.snapshot()).lines!.join("\n")).toContain("3000");
    expect(cpuSeconds(daemon.pid) - before).toBeLessThan(0.2); // 0.02, and 0.45 where each size is replayed
    expect(watcher.display.terminal.cols).toBe(sizes.at(-1)!.cols);
    await wire.call("pty.close", { session_id: terminal.id });
  });

  testOnce()("a redraw does not come in the middle of a sequence or a character", async () => {
    for (const [begun, rest, text] of [
      ["abc\\033[3", "1mRED", "abcRED"],
      ["abc\\346\\274", "\\242d", "abc漢d"],
      ["abc\\033]2;a ti", "tle\\007d", "abcd"],
    ]) {
      const terminal = await newTerminal(wire, {
        command: `stty -echo; printf '${begun}'; read go; printf '${rest}'; cat`,
      });
      await terminal.waitFor("abc");
      await until("all of it", async () => (await terminal.summary()).offset >= 4);
      using own = await daemon.connect();
      const watcher = await Watcher.subscribe(own, { session_id: terminal.id });
      await until("the redraw", () => watcher.frames.length > 0);
      await wire.call("pty.write", { session_id: terminal.id, data: "\n" });
      await until(text!, () => watcher.display.lines.join("").replaceAll(/\s/g, "").includes(text!));
      await wire.call("pty.close", { session_id: terminal.id });
    }
  });

  testOnce()("the size goes back to the typist before, not to an observer", async () => {
    const terminal = await newTerminal(wire, { command: "cat" });
    const { session_id } = terminal;
    using first = await daemon.connect();
    await first.call("pty.write", { session_id, data: "a" });
    const second = await daemon.connect();
    await second.call("pty.write", { session_id, data: "b" });
    second[Symbol.dispose]();
    using observer = await daemon.connect();
    await until("the second is gone", async () => {
      const { applied } = await first.call("pty.resize", { session_id, cols: 90, rows: 30 });
      return applied;
    });
    expect(await observer.call("pty.resize", { session_id, cols: 33, rows: 9 })).toMatchObject({
      applied: false,
      cols: 90,
    });
    await wire.call("pty.close", { session_id });
  });

  testOnce()("a wait without end is not over at once, and a wrapped wide character is found", async () => {
    const terminal = await newTerminal(wire, { command: "printf 'abcdefgh漢字漢字 end'; cat", cols: 9 });
    await terminal.waitFor("abcdefgh漢字漢字 end");
    const { matched } = await wire.call("pty.wait", {
      session_id: terminal.id,
      until: { idle_ms: 2 ** 31 },
      timeout_s: 0.1,
    });
    expect(matched).toBe("timeout");
    await wire.call("pty.close", { session_id: terminal.id });
  });

  testOnce()("a real-time signal has a number and a name", async () => {
    const terminal = await newTerminal(wire, { command: "kill -35 $$" });
    await terminal.waitForExit();
    expect(await terminal.summary()).toMatchObject({ exit_code: 163, signal: "SIG35" });
  });

  testOnce()("the records of long outputs stay, when their output is gone", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 10; i++) {
      const terminal = await newTerminal(wire, {
        command: "head -c 3200000 /dev/zero | base64; echo END; exit 7",
      });
      await terminal.waitForExit(30);
      ids.push(terminal.id);
    }
    for (const session_id of ids) {
      const { lines } = await wire.call("pty.snapshot", { session_id });
      expect(lines!.join("\n")).toContain("END");
      const watcher = await Watcher.subscribe(wire, { session_id });
      expect(await watcher.untilExit()).toMatchObject({ exit_code: 7 });
    }
  });
});

testOnce()("a few bytes of output keep nobody else waiting, whatever they ask of the screen", async () => {
  using other = await daemon.connect();
  for (const final of "STLMIZb") {
    const terminal = await newTerminal(wire, {
      command: `printf 'x\\033[2147483647${final}\\033[H\\033[2Jafter-${final}'; cat`,
    });
    await terminal.waitFor(`after-${final}`);
    await other.call("system.ping", {});
    await wire.call("pty.close", { session_id: terminal.id });
  }
});

test("unknown terminals are SESSION_NOT_FOUND", async () => {
  for (const [method, params] of [
    ["pty.write", { data: "" }],
    ["pty.resize", { cols: 1, rows: 1 }],
    ["pty.close", {}],
    ["pty.subscribe", {}],
    ["pty.unsubscribe", {}],
    ["pty.snapshot", {}],
    ["pty.wait", { until: { exit: true } }],
  ] as const) {
    const { code } = await wire.fail(method, { session_id: "s-00000000", ...params });
    expect([method, code]).toEqual([method, "SESSION_NOT_FOUND"]);
  }
});
