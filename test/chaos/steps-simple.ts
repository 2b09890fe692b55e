// Steps that ask little, or nothing that can be had.
import { type MethodName, methods } from "../../src/protocol/methods.ts";
import type { Random } from "../support/random.ts";
import type { WireClient } from "./wire-client.ts";
import { type Step, scarce, step } from "./world.ts";

/** The daemon of a storm is started with it. */
export const maxLineBytes = 512 * 1024;

const looks = [
  "system.ping",
  "system.stats",
  "system.describe",
  "session.list",
  "exec.list",
  "pty.list",
  "runtime.list",
] as const satisfies MethodName[];

const look = step({
  name: "look",
  weight: 4,
  draw: (random) => Array.from({ length: random.between(1, 12) }, () => random.pick(looks)),
  async act(client: WireClient, methods) {
    await Promise.all(methods.map((method) => client.ask(method, {})));
  },
});

/** Many requests in one piece, or in pieces that are cut anywhere. */
const requestFlood = step({
  name: "request flood",
  weight: 2,
  draw: (random) => ({ count: random.pick([20, 300, 2000]), cuts: [random.next(), random.next()] }),
  async act(client: WireClient, { count, cuts }) {
    const wire = await client.wire();
    if (!wire) return;
    if (client.listener === "http") {
      await Promise.all(Array.from({ length: Math.min(count, 40) }, () => client.ask("system.ping", {})));
      return;
    }
    client.books.fault("request flood");
    const ids = Array.from({ length: count }, (_, i) => `flood-${client.world.newCommandId()}-${i}`);
    const answers = ids.map((id) => wire.expect(id, "system.ping"));
    const bytes = Buffer.from(ids.map((id) => `{"id":"${id}","method":"system.ping"}\n`).join(""));
    // A WebSocket's messages are whole lines.
    const [first, second] =
      client.listener === "unix" ? cuts.sort().map((cut) => Math.floor(cut * bytes.length)) : [0, 0];
    for (const piece of [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)]) {
      if (piece.length > 0) wire.send(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(answers);
  },
});

interface Nonsense {
  id?: string;
  text: string;
}

function drawNonsense(random: Random): Nonsense {
  const id = `bad-${random.below(2 ** 31)}-${random.below(2 ** 31)}`;
  const method = random.pick(Object.keys(methods));
  return random.pick<() => Nonsense>([
    () => ({ text: "{" }),
    () => ({ text: '{"method":"system.ping"}' }),
    () => ({ text: '{"__proto__":{"id":"x","method":"system.ping"}}' }),
    () => ({ text: `"${"x".repeat(maxLineBytes)}"` }),
    () => ({ id, text: JSON.stringify({ id, method: `${method}x` }) }),
    () => ({ id, text: JSON.stringify({ id, method: "exec.run", params: { session_id: 1 } }) }),
    () => ({ id, text: `{"id":"${id}","method":"exec.attach","params":{"stream_id":"x-\\ud800"}}` }),
    () => ({ id, text: JSON.stringify({ id, method: "session.info", params: { session_id: "__proto__" } }) }),
    () => ({ id, text: `{"id":"${id}","method":"session.create","params":{"timeout_s":-1e999}}` }),
  ])();
}

const nonsense = step({
  name: "nonsense",
  weight: 3,
  draw: (random) => Array.from({ length: random.between(1, 6) }, () => drawNonsense(random)),
  async act(client: WireClient, lines) {
    client.books.fault("nonsense");
    for (const { id, text } of lines) {
      const wire = await client.wire();
      if (!wire) return;
      // A WebSocket is closed where a message is too long for it.
      if (text.length > maxLineBytes && client.listener === "websocket") continue;
      const answer = wire.expect(id, "nonsense");
      wire.send(`${text}\n`);
      const reply = await answer;
      if (reply?.["ok"]) client.problem(`${text.slice(0, 100)} was taken: ${JSON.stringify(reply)}`);
    }
  },
});

/** Everything that was asked before the half-close is answered, then the daemon closes its side. */
const halfClose = step({
  name: "half-close",
  weight: 1,
  draw: (random) => random.between(0, 20),
  async act(client: WireClient, count) {
    if (client.listener !== "unix") return;
    const wire = await client.another();
    if (!wire) return;
    client.books.fault("half-close");
    const answers = Array.from({ length: count }, () => wire.ask("system.ping", {}));
    wire.endInput();
    await Promise.all(answers);
  },
});

/** Asks for much and is gone before the answers. */
const leave = step({
  name: "leave",
  weight: 2,
  draw: (random) => ({
    count: random.between(1, 30),
    after: random.pick([0, 0, 1, 5]),
    last: random.between(1, 9),
  }),
  async act(client: WireClient, { count, after, last }) {
    const sessionId = await client.session();
    const wire = await client.another();
    if (!wire) return;
    client.books.fault("client gone");
    for (let i = 0; i < count; i++) void wire.ask("system.stats", {});
    if (sessionId !== undefined) {
      void wire.ask("exec.run", { session_id: sessionId, command: `sleep 0.0${last}; seq 1 20000` });
    }
    if (after > 0) await Bun.sleep(after);
    wire.kill();
    if (sessionId !== undefined) await client.end(sessionId);
  },
});

/** Ends what others use. */
const meddle = step({
  name: "meddle",
  weight: 1,
  draw: (random) => ({ part: random.next(), whom: random.pick(["session", "terminal", "command"]) }),
  async act(client: WireClient, { part, whom }) {
    const { sessions, terminals, streams, doomed } = client.world;
    if (whom === "command") {
      const stream_id = streams.at(part);
      if (stream_id === undefined) return;
      doomed.add(stream_id);
      await client.ask("exec.cancel", { stream_id }, { expected: ["STREAM_NOT_FOUND"] });
      return;
    }
    const session_id = (whom === "session" ? sessions : terminals).at(part);
    if (session_id === undefined) return;
    doomed.add(session_id);
    client.books.fault("ended by another");
    await client.ask("session.destroy", { session_id, force: true });
  },
});

const inspect = step({
  name: "inspect",
  weight: 2,
  draw: (random) => [random.next(), random.next()] as const,
  async act(client: WireClient, [session, terminal]) {
    const { sessions, terminals } = client.world;
    const session_id = sessions.at(session);
    if (session_id !== undefined) await client.ask("session.info", { session_id });
    const other = terminals.at(terminal);
    if (other === undefined) return;
    const expected = ["SESSION_NOT_FOUND"] as const; // one that has ended is not kept for ever
    await client.ask("pty.snapshot", { session_id: other, scrollback: 50 }, { expected });
    await client.ask(
      "pty.resize",
      { session_id: other, cols: 70 + Math.floor(session * 20), rows: 20 },
      { expected },
    );
  },
});

const comeAndGo = step({
  name: "come and go",
  weight: 1,
  draw: (random) => random.between(1, 4),
  async act(client: WireClient, count) {
    for (let i = 0; i < count; i++) {
      const made = await client.ask("session.create", { name: `guest ${i}` }, { expected: scarce });
      if (!made?.ok) return;
      await client.ask("session.destroy", { session_id: made.data.session_id });
    }
  },
});

export const simpleSteps: Step<unknown, WireClient>[] = [
  look,
  requestFlood,
  nonsense,
  halfClose,
  leave,
  meddle,
  inspect,
  comeAndGo,
];
