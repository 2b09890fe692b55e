// Steps with terminals: their output is known to the byte, also for who is killed and comes back.
import type { Random } from "../support/random.ts";
import { Onlooker, OutputSubscriber } from "./follower.ts";
import { drawLast, type Expected, exactly, seqText } from "./outputs.ts";
import type { WireClient } from "./wire-client.ts";
import { type Step, scarce, step } from "./world.ts";

/** A terminal of one's own, in the pool for others to look at. */
async function newTerminal(client: WireClient, command: string): Promise<string | undefined> {
  const session_id = client.world.newTerminalId();
  client.world.terminals.add(session_id);
  const reply = await client.ask(
    "pty.create",
    { session_id, command, cols: 80, rows: 24 },
    { expected: scarce },
  );
  if (reply?.ok) return session_id;
  client.world.doomed.add(session_id); // it may have been made, or not
  return undefined;
}

/** From its first byte to its end, by as many connections as it takes. Undefined where nobody can say. */
async function followToEnd(
  client: WireClient,
  session_id: string,
  expected: Expected,
): Promise<OutputSubscriber | undefined> {
  for (let next = 0; ; ) {
    const wire = await client.wire();
    if (!wire) return undefined;
    const follower = new OutputSubscriber(expected, next);
    const reply = await client.ask(
      "pty.subscribe",
      { session_id, from: next },
      {
        wire,
        expected: ["SESSION_NOT_FOUND"], // it has ended long ago
        onReply: ({ ok }) => void (ok && wire.follow(session_id, follower)),
      },
    );
    if (reply && !reply.ok) return undefined;
    if (!reply) follower.gone();
    const end = await follower.end;
    client.books.figures.bytes += follower.bytes;
    if (end.how === "exit") return follower;
    next = follower.next;
  }
}

const terminalList = step({
  name: "terminal that prints",
  weight: 3,
  draw: (random) => ({ last: drawLast(random), code: random.pick([0, 3]), killAfterMs: drawKill(random) }),
  async act(client: WireClient, { last, code, killAfterMs }) {
    const session_id = await newTerminal(client, `seq 1 ${last}; exit ${code}`);
    if (session_id === undefined) return;
    const expected = exactly(seqText(last, "\r\n"));
    const killed = killAfterMs === undefined ? undefined : killLater(client, killAfterMs);
    const follower = await followToEnd(client, session_id, expected);
    await killed;
    if (!follower || client.world.mayHaveEnded(session_id)) return;
    if (follower.next !== expected.length)
      client.problem(`${session_id}: ${follower.next} bytes of ${expected.length}`);
  },
});

const drawKill = (random: Random) => random.pick([undefined, undefined, 0, 3, 15]);

async function killLater(client: WireClient, afterMs: number): Promise<void> {
  await Bun.sleep(afterMs);
  client.books.fault("client killed");
  client.kill();
}

/** What is typed comes back, byte for byte: the terminal is raw, and the program is `cat`. */
const typing = step({
  name: "typing",
  weight: 3,
  draw: (random) =>
    Array.from({ length: random.between(1, 10) }, () => random.bytes(random.pick([1, 40, 3000]))),
  async act(client: WireClient, pieces) {
    const session_id = await newTerminal(client, "stty raw -echo; printf ready; exec cat");
    if (session_id === undefined) return;
    const content = Buffer.concat([Buffer.from("ready"), ...pieces]);
    const followed = followToEnd(client, session_id, exactly(content));
    const ready = { session_id, until: { text: "ready" }, timeout_s: 20 };
    const readied = await client.ask("pty.wait", ready, { expected: ["SESSION_NOT_FOUND"] });
    let typed = 5;
    if (readied?.ok && readied.data.matched === "text") {
      for (const piece of pieces) {
        const data = Buffer.from(piece).toString("base64");
        const reply = await client.ask("pty.write", { session_id, data, encoding: "base64" });
        if (!reply?.ok) break; // who was killed does not know whether it was typed
        typed += piece.length;
      }
    }
    await untilPrinted(client, session_id, typed);
    client.world.doomed.add(session_id);
    await client.ask("pty.close", { session_id });
    await followed;
  },
});

/** What was typed must come back; not where the terminal has ended meanwhile. */
async function untilPrinted(client: WireClient, session_id: string, bytes: number): Promise<void> {
  const deadline = performance.now() + 25_000;
  for (;;) {
    const offset = await offsetOf(client, session_id);
    if (offset === undefined || offset >= bytes) return;
    if (performance.now() > deadline)
      return client.problem(`${session_id}: ${offset} of ${bytes} bytes came back`);
    await Bun.sleep(5);
  }
}

/** How much a terminal has printed; undefined where it does not run any more. */
async function offsetOf(client: WireClient, session_id: string): Promise<number | undefined> {
  const reply = await client.ask("pty.list", { state: "running" });
  if (!reply?.ok) return undefined;
  return reply.data.sessions.find((terminal) => terminal.session_id === session_id)?.offset;
}

/** Watches what others do, and may fall behind. */
const onlooker = step({
  name: "onlooker",
  weight: 2,
  draw: (random) => ({ part: random.next(), ms: random.pick([0, 5, 50]), isStalled: random.chance(0.3) }),
  async act(client: WireClient, { part, ms, isStalled }) {
    const session_id = client.world.terminals.at(part);
    const wire = session_id === undefined ? undefined : await client.another();
    if (session_id === undefined || !wire) return;
    await client.ask(
      "pty.subscribe",
      { session_id, passive: part < 0.5, scrollback: 100 },
      {
        wire,
        expected: ["SESSION_NOT_FOUND"],
        onReply: ({ ok }) => void (ok && wire.follow(session_id, new Onlooker())),
      },
    );
    if (isStalled) wire.pause();
    await Bun.sleep(ms);
    client.books.fault("client gone");
    wire.kill();
  },
});

/** A program that prints without end, seen and unseen, and a shell that is simply left. */
const wildTerminal = step({
  name: "wild terminal",
  weight: 1,
  draw: (random) => ({
    command: random.pick(["yes", "cat /dev/urandom", "bash --norc", "trap '' HUP TERM; sleep 800"]),
    ms: random.pick([5, 60]),
    isWatched: random.chance(0.5),
  }),
  async act(client: WireClient, { command, ms, isWatched }) {
    const session_id = await newTerminal(client, command);
    if (session_id === undefined) return;
    client.books.fault("output flood");
    const wire = isWatched ? await client.another() : undefined;
    const onReply = ({ ok }: { ok?: boolean }) => void (ok && wire!.follow(session_id, new Onlooker()));
    if (wire) await client.ask("pty.subscribe", { session_id }, { wire, onReply });
    await Bun.sleep(ms);
    client.world.doomed.add(session_id);
    await client.ask("pty.close", { session_id });
    wire?.kill();
  },
});

export const terminalSteps: Step<unknown, WireClient>[] = [terminalList, typing, onlooker, wildTerminal];
