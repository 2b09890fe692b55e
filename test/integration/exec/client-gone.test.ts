// Who asks to watch and is gone before it is answered: the number of its socket is the next client's, and so is the
// link to a runtime that has only one.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { newCommandId } from "../../../src/client/command-id.ts";
import type { MethodName } from "../../../src/protocol/methods.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { binary } from "../../support/program.ts";
import { newSession } from "../../support/session.ts";
import { follow } from "../../support/stream.ts";
import { newTerminal, Watcher } from "../../support/terminal.ts";
import { until } from "../../support/wait.ts";
import type { Wire } from "../../support/wire.ts";

const token = "the right word";
let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startDaemon({ env: { TRL_AUTH_TOKEN: token } });
});
afterAll(() => daemon[Symbol.asyncDispose]());

const connections = async () => {
  using wire = await daemon.connect();
  return (await wire.call("system.stats", {})).connections;
};

const dialects = {
  methods: (session_id: string) => [
    { id: "s", method: "pty.subscribe", params: { session_id, replay: "none" } },
  ],
  frontends: (session_id: string) => [
    { type: "Auth", token },
    { type: "Subscribe", session_id },
  ],
};

describe("gone before it is answered", () => {
  for (const [dialect, asking] of Object.entries(dialects)) {
    for (const count of [1, 5]) {
      test(`${dialect}, ${count} of them: what is printed reaches nobody else`, async () => {
        const session_id = `${dialect}-${count}`;
        using owner = await daemon.connect();
        // Its program has ended. What that has left does not hear that it is to end, so that the name is not free yet.
        const before = await newTerminal(owner, {
          session_id,
          command: "trap '' HUP TERM; sleep 1000 & exit 0",
        });
        await until("the end of the program", async () => (await before.summary()).state === "exited");
        const creating = owner.request("pty.create", { session_id, command: "cat", args: [] });
        const leavers = await Promise.all(Array.from({ length: count }, () => daemon.connect()));
        for (const leaver of leavers) for (const frame of asking(session_id)) leaver.sendFrame(frame);
        // They have been heard when others who come after them are.
        const left = await connections();
        for (const leaver of leavers) leaver[Symbol.dispose]();
        await until("them to have left", async () => (await connections()) <= left - count);
        const bystanders = await Promise.all(Array.from({ length: count + 3 }, () => daemon.connect()));
        for (const bystander of bystanders) await bystander.call("system.ping", {});
        expect(await creating).toMatchObject({ ok: true });
        const terminal = { session_id };
        for (const data of ["x", "a longer line that is more than a few bytes, and is echoed as it is\r"])
          await owner.call("pty.write", { ...terminal, data });
        await owner.call("pty.wait", { ...terminal, until: { text: "echoed as it is" }, timeout_s: 15 });
        for (const bystander of bystanders) {
          await bystander.call("system.ping", {});
          expect(bystander.frames.map(({ ok }) => ok)).toEqual([true, true]);
          bystander[Symbol.dispose]();
        }
        expect(
          (await owner.call("pty.list", {})).sessions.find((it) => it.session_id === session_id),
        ).toMatchObject({
          subscribers: 0,
        });
        await owner.call("pty.close", terminal);
      });
    }
  }
});

describe("gone before it is answered by a runtime that is a single process with a single connection", () => {
  const runtime = "single";
  let owner: Wire;
  let far: number;
  beforeAll(async () => {
    owner = await daemon.connect();
    await owner.call("runtime.add", { name: runtime, kind: "command", argv: [binary, "--stdin"] });
    const session = await newSession(owner, { runtime });
    far = Number(await session.out("echo ${TRL_DAEMON%%:*}"));
  });
  afterAll(async () => {
    process.kill(far, "SIGCONT"); // where a test has failed in between
    await owner.call("runtime.remove", { name: runtime, force: true });
    owner[Symbol.dispose]();
  });

  /** The runtime is stopped, so that nobody is answered before `SIGCONT`. */
  async function vanish(method: MethodName, params: object, count = 3): Promise<void> {
    process.kill(far, "SIGSTOP");
    const leavers = await Promise.all(Array.from({ length: count }, () => daemon.connect()));
    for (const leaver of leavers) leaver.sendFrame({ id: "gone", method, params });
    const left = await connections();
    for (const leaver of leavers) leaver[Symbol.dispose]();
    await until("them to have left", async () => (await connections()) <= left - count);
  }

  /** A command that says what it is told, and is followed by nobody. */
  async function newEcho(): Promise<string> {
    const { id: session_id } = await newSession(owner, { runtime });
    const cat = { session_id, command: "cat", open_stdin: true };
    const { stream_id } = await owner.call("exec.stream", cat);
    await owner.call("exec.detach", { stream_id });
    return stream_id;
  }

  /** Each of its frames comes once; `follow` fails otherwise. */
  async function echoes(wire: Wire, stream_id: string): Promise<void> {
    const followed = follow(wire, stream_id);
    for (const data of ["first\n", "second\n"]) {
      await owner.call("exec.write", { stream_id, data });
      await wire.frame((frame) => frame["stream_id"] === stream_id && frame["data"] === data);
    }
    await owner.call("exec.write", { stream_id, data: "", eof: true });
    expect(await followed).toMatchObject({ stdout: { bytes: 13 }, exit: { exit_code: 0 } });
  }

  test("exec.attach: who comes next gets every frame, and none twice", async () => {
    const stream_id = await newEcho();
    await vanish("exec.attach", { stream_id });
    using next = await daemon.connect();
    const attached = next.call("exec.attach", { stream_id });
    process.kill(far, "SIGCONT");
    await attached;
    await echoes(next, stream_id);
  });

  test("what one asks in a row is heard in that order, also behind somebody who has just left", async () => {
    const terminal = await newTerminal(owner, { runtime, command: "cat", args: [] });
    const { session_id } = terminal;
    const stream_id = await newEcho();
    for (const count of [0, 1]) {
      await vanish("pty.subscribe", { session_id }, count);
      using next = await daemon.connect();
      const asked = [
        next.request("pty.subscribe", { session_id }),
        next.request("pty.subscribe", { session_id }),
        next.request("pty.unsubscribe", { session_id }),
        next.request("exec.attach", { stream_id }),
        next.request("exec.attach", { stream_id }),
        next.request("exec.detach", { stream_id }),
      ];
      await connections(); // it has been heard
      process.kill(far, "SIGCONT");
      const replies = await Promise.all(asked);
      expect(replies[2]).toMatchObject({ data: { unsubscribed: true } });
      expect(replies[5]).toMatchObject({ data: { detached: true } });
      expect((await terminal.summary()).subscribers).toBe(0);
    }
    await owner.call("pty.close", { session_id });
    await owner.call("exec.write", { stream_id, data: "", eof: true });
  });

  test("exec.attach of two who stay: one gets every frame, and the other is told", async () => {
    const stream_id = await newEcho();
    process.kill(far, "SIGSTOP");
    using first = await daemon.connect();
    using second = await daemon.connect();
    const replies = [first, second].map((wire) => wire.request("exec.attach", { stream_id }));
    await connections(); // both have been heard
    process.kill(far, "SIGCONT");
    const refused = (await Promise.all(replies)).map(({ error }) => error?.code);
    expect(refused.toSorted()).toEqual(["UNSUPPORTED", undefined]);
    await echoes(refused[0] ? second : first, stream_id);
  });

  test("exec.stream: the command is not held back", async () => {
    const { id: session_id } = await newSession(owner, { runtime });
    const command_id = newCommandId();
    const command = "head -c 20000000 /dev/zero";
    await vanish("exec.stream", { session_id, command, command_id, stall_timeout_s: 0 }, 1);
    process.kill(far, "SIGCONT");
    await until("the command to end", async () =>
      (await owner.call("exec.list", {})).streams.some(
        ({ stream_id, state }) => stream_id === command_id && state === "ended",
      ),
    );
  });

  test("pty.subscribe: nobody is counted, and who comes next misses nothing", async () => {
    const terminal = await newTerminal(owner, { runtime, command: "cat", args: [] });
    const { session_id } = terminal;
    await vanish("pty.subscribe", { session_id });
    process.kill(far, "SIGCONT");
    await until("them to be given up", async () => (await terminal.summary()).subscribers === 0);
    await vanish("pty.subscribe", { session_id });
    using next = await daemon.connect();
    const watching = Watcher.subscribe(next, { session_id, from: 0 });
    await connections(); // it has been heard
    process.kill(far, "SIGCONT");
    const watcher = await watching;
    await terminal.type("typed\r");
    await until("the echo, and what cat says", () => watcher.all.toString() === "typed\r\ntyped\r\n");
    expect(watcher.isExact).toBe(true);
    expect((await terminal.summary()).subscribers).toBe(1);
    await next.call("pty.unsubscribe", { session_id });
    expect((await terminal.summary()).subscribers).toBe(0);
    await owner.call("pty.close", { session_id });
  });
});
