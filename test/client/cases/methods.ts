// Every method of the table by `call`, in the wire's own spelling.
import assert from "node:assert/strict";
import type { MethodName, Trl } from "trl/client";
import { methods } from "trl/protocol";
import { type Case, failure, until } from "../world.ts";

/** One of each, in an order in which they can work. What it gives is checked against the schema's type by tsc. */
async function callAll(trl: Trl, called: Set<MethodName>): Promise<void> {
  const call = ((method: MethodName, ...rest: [never]) => {
    called.add(method);
    return trl.call(method, ...rest);
  }) as Trl["call"];
  assert.equal(typeof (await call("system.ping")).version, "string");
  assert.equal(typeof (await call("system.stats")).memory_rss_bytes, "number");
  assert.equal(typeof (await call("system.describe")).methods, "object");
  await failure("upgrade", call("system.upgrade", { executable: "/nowhere/trl" }), "INVALID_PARAMS");
  const { session_id } = await call("session.create", { name: "every method" });
  assert.ok((await call("session.list")).sessions.some((it) => it.session_id === session_id));
  assert.equal((await call("session.info", { session_id })).name, "every method");
  assert.equal((await call("exec.run", { session_id, command: "printf x" })).stdout, "x");
  const { stream_id } = await call("exec.stream", { session_id, command: "cat", open_stdin: true });
  assert.equal((await call("exec.write", { stream_id, data: "abc" })).bytes, 3);
  assert.equal((await call("exec.ack", { stream_id, stdout_offset: 0 })).stream_id, stream_id);
  assert.equal((await call("exec.detach", { stream_id })).detached, true);
  assert.equal((await call("exec.attach", { stream_id })).state, "running");
  assert.ok((await call("exec.list")).streams.some((it) => it.stream_id === stream_id));
  assert.equal((await call("exec.cancel", { stream_id })).cancelled, true);
  await until("the command's end", async () => {
    const { streams } = await trl.call("exec.list");
    return streams.some((it) => it.stream_id === stream_id && it.state === "ended");
  });
  assert.equal((await call("exec.wait", { stream_id })).reason, "cancelled");
  assert.equal((await call("session.destroy", { session_id })).state, "terminated");
  const { session_id: id } = await call("pty.create", { command: "cat" });
  assert.equal((await call("pty.subscribe", { session_id: id, window_bytes: 65536 })).state, "running");
  assert.equal((await call("pty.write", { session_id: id, data: "hello\n" })).bytes, 6);
  const { matched } = await call("pty.wait", { session_id: id, until: { text: "hello" } });
  assert.equal(matched, "text");
  assert.equal((await call("pty.ack", { session_id: id, offset: 0 })).session_id, id);
  assert.equal((await call("pty.resize", { session_id: id, cols: 90, rows: 30 })).cols, 90);
  assert.equal((await call("pty.snapshot", { session_id: id })).lines?.[0], "hello");
  assert.equal((await call("pty.unsubscribe", { session_id: id })).unsubscribed, true);
  assert.ok((await call("pty.list")).sessions.some((it) => it.session_id === id));
  assert.equal((await call("pty.close", { session_id: id })).state, "terminated");
  const name = `nowhere-${crypto.randomUUID()}`;
  assert.equal(
    (await call("runtime.add", { name, kind: "socket", path: "/nowhere/trl.sock" })).state,
    "idle",
  );
  await failure("check", call("runtime.check", { name }), "RUNTIME_UNAVAILABLE");
  assert.ok((await call("runtime.list")).runtimes.some((it) => it.name === name && it.state !== "connected"));
  assert.equal((await call("runtime.remove", { name })).removed, true);
}

export const methodCases: Case[] = [
  {
    name: "call: every method of the table",
    async run(world) {
      const called = new Set<MethodName>();
      await callAll(await world.connect(), called);
      assert.deepEqual([...called].sort(), Object.keys(methods).sort());
    },
  },
  {
    name: "call: errors have the code of the protocol",
    async run(world) {
      const trl = await world.connect();
      await failure("info", trl.call("session.info", { session_id: "s-00000000" }), "SESSION_NOT_FOUND");
      await failure("attach", trl.call("exec.attach", { stream_id: "x-00000000" }), "STREAM_NOT_FOUND");
      await failure("pty", trl.call("pty.snapshot", { session_id: "none" }), "SESSION_NOT_FOUND");
      await failure("shell", trl.call("session.create", { shell: "/no/such/shell" }), "INVALID_PARAMS");
      await failure("method", trl.call("no.method" as "system.ping"), "INVALID_PARAMS");
      const cols = "wide" as unknown as number;
      const error = await failure("cols", trl.call("pty.create", { cols }), "INVALID_PARAMS");
      assert.match(error.message, /cols/);
    },
  },
  {
    name: "call: what cannot be written as JSON is told, and disturbs nothing",
    async run(world) {
      const trl = await world.connect();
      const name = 1n as unknown as string;
      await assert.rejects(trl.call("session.create", { name }), TypeError);
      await trl.call("system.ping");
    },
  },
  {
    name: "call: an AbortSignal ends the waiting, before and during",
    async run(world) {
      const trl = await world.connect();
      const reason = new Error("enough");
      await assert.rejects(trl.call("system.ping", {}, { signal: AbortSignal.abort(reason) }), reason);
      await using terminal = await trl.terminal({ command: "cat" });
      const aborting = new AbortController();
      const waiting = terminal.wait({ text: "never" }, { timeoutS: 60, signal: aborting.signal });
      aborting.abort(reason);
      await assert.rejects(waiting, reason);
      await trl.call("system.ping");
    },
  },
];
