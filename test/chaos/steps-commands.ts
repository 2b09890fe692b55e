// Steps that run commands: whoever is killed, stalls or lets go in the middle gets every byte all the same.
import type { Result } from "../../src/protocol/methods.ts";
import type { Random } from "../support/random.ts";
import type { ChaosWire } from "./chaos-wire.ts";
import { type FollowedEnd, StreamFollower, wrongEnd } from "./follower.ts";
import { drawCommand, flood, type KnownCommand, sleeper } from "./outputs.ts";
import type { Reply, WireClient } from "./wire-client.ts";
import { type Step, step } from "./world.ts";

type Encoding = "utf8" | "base64";
const drawEncoding = (random: Random): Encoding => random.pick(["utf8", "base64"]);
const paramsOf = ({ command, stdin }: KnownCommand) =>
  stdin === undefined ? { command } : { command, stdin };

/** What is wrong with a result, interrupted or not. */
function wrongResult(
  known: KnownCommand,
  data: Result<"exec.run">,
  encoding: Encoding,
  mayBeInterrupted: boolean,
): string | undefined {
  const [stdout, stderr] = [Buffer.from(data.stdout, encoding), Buffer.from(data.stderr, encoding)];
  if (stdout.length !== data.stdout_bytes) return `${stdout.length} of ${data.stdout_bytes} bytes`;
  if (!known.stdout.matches(0, stdout)) return "other bytes than expected on stdout";
  if (!known.stderr.matches(0, stderr) && !/Terminated|Killed|fault/.test(stderr.toString()))
    return `other bytes than expected on stderr: ${stderr.subarray(0, 200)}`;
  return wrongEnd(known, data, mayBeInterrupted);
}

const run = step({
  name: "run",
  weight: 6,
  draw: (random) => ({ known: drawCommand(random), encoding: drawEncoding(random) }),
  async act(client: WireClient, { known, encoding }) {
    const session_id = await client.session();
    if (session_id === undefined) return;
    const command_id = client.world.newCommandId();
    client.world.streams.add(command_id);
    const params = { session_id, ...paramsOf(known), command_id, encoding };
    let reply: Reply<Result<"exec.run">> | undefined = await client.ask("exec.run", params);
    if (!reply) {
      // Its reply is lost; the command itself is not.
      reply = await client.ask(
        "exec.wait",
        { stream_id: command_id, encoding },
        { expected: ["STREAM_NOT_FOUND"] },
      );
      await client.leaveSession();
    }
    if (!reply?.ok) return;
    client.books.figures.bytes += reply.data.stdout_bytes + reply.data.stderr_bytes;
    const mayBeInterrupted = client.world.mayHaveEnded(session_id) || client.world.mayHaveEnded(command_id);
    const wrong = wrongResult(known, reply.data, encoding, mayBeInterrupted);
    if (wrong) client.problem(`exec.run ${known.command}: ${wrong}`);
  },
});

const timeout = step({
  name: "timeout",
  weight: 1,
  draw: (random) => random.pick([0.05, 0.1, 0.3]),
  async act(client: WireClient, timeout_s) {
    const session_id = await client.session();
    if (session_id === undefined) return;
    const reply = await client.ask(
      "exec.run",
      { session_id, command: sleeper.command, timeout_s },
      { expected: ["COMMAND_TIMEOUT"] },
    );
    if (!reply) return await client.leaveSession();
    client.books.fault("timeout");
    const result = reply.ok ? reply.data : (reply.error.data as Result<"exec.run"> | undefined);
    const wrong = result && wrongResult(sleeper, result, "utf8", true);
    if (wrong) client.problem(`timeout: ${wrong}`);
  },
});

interface StreamDraw {
  known: KnownCommand;
  encoding: Encoding;
  /** What happens to it on the way. */
  fate: "none" | "stall" | "kill" | "detach" | "watched by a second" | "window";
  afterMs: number;
  stallMs: number;
}

const stream = step({
  name: "stream",
  weight: 6,
  draw: (random): StreamDraw => ({
    known: drawCommand(random),
    encoding: drawEncoding(random),
    fate: random.pick(["none", "stall", "kill", "detach", "watched by a second", "window"]),
    afterMs: random.pick([0, 1, 5, 20]),
    stallMs: random.pick([20, 100, 1500]),
  }),
  async act(client: WireClient, drawn) {
    const { known, encoding } = drawn;
    const session_id = await client.session();
    const wire = await client.wire();
    if (session_id === undefined || !wire) return;
    const stream_id = client.world.newCommandId();
    client.world.streams.add(stream_id);
    const follower = new StreamFollower(known, { stdout: 0, stderr: 0 }, encoding);
    const hasWindow = drawn.fate === "window" && client.listener !== "http";
    const more = hasWindow ? { window_bytes: 65_536, resume_key: stream_id } : {};
    if (hasWindow) acknowledging(wire, stream_id, follower);
    const started = await client.ask(
      "exec.stream",
      { session_id, ...paramsOf(known), command_id: stream_id, encoding, ...more },
      { wire, onReply: ({ ok }) => void (ok && wire.follow(stream_id, follower)) },
    );
    if (!started?.ok) return await client.leaveSession();
    const [end] = await Promise.all([
      endOf(client, stream_id, follower, more),
      strike(client, wire, stream_id, follower, drawn),
    ]);
    await finish(client, session_id, stream_id, end);
  },
});

/** In the middle, or when it is over already: both must be harmless. */
async function strike(
  client: WireClient,
  wire: ChaosWire,
  stream_id: string,
  follower: StreamFollower,
  { fate, afterMs, stallMs, known, encoding }: StreamDraw,
): Promise<void> {
  if (fate === "none") return;
  await Bun.sleep(afterMs);
  if (fate === "kill" || fate === "window") {
    client.books.fault("client killed");
    wire.kill();
  } else if (fate === "stall") {
    client.books.fault("stall");
    wire.pause();
    await Bun.sleep(stallMs);
    wire.resume();
  } else if (fate === "detach" && client.listener !== "http") {
    const reply = await client.ask("exec.detach", { stream_id }, { wire, expected: ["STREAM_NOT_FOUND"] });
    if (!reply?.ok || !reply.data.detached) return;
    wire.unfollow(stream_id);
    follower.leave();
  } else if (fate === "watched by a second") await watchAlongside(client, stream_id, known, encoding);
}

async function watchAlongside(
  client: WireClient,
  stream_id: string,
  known: KnownCommand,
  encoding: Encoding,
): Promise<void> {
  const second = await client.another();
  if (!second) return;
  const follower = new StreamFollower(known, { stdout: 0, stderr: 0 }, encoding);
  const reply = await client.ask(
    "exec.attach",
    { stream_id, encoding },
    {
      wire: second,
      expected: ["STREAM_NOT_FOUND"],
      onReply: ({ ok }) => void (ok && second.follow(stream_id, follower)),
    },
  );
  if (reply?.ok) await follower.end;
  client.books.figures.bytes += follower.bytes;
  second.kill();
}

function acknowledging(wire: ChaosWire, stream_id: string, follower: StreamFollower): void {
  let told = 0;
  follower.onProgress = () => {
    const { stdout, stderr } = follower.next;
    if (stdout + stderr - told < 16_384) return;
    told = stdout + stderr;
    void wire.ask("exec.ack", { stream_id, stdout_offset: stdout, stderr_offset: stderr });
  };
}

interface Ended {
  follower: StreamFollower;
  end: FollowedEnd;
}

/** Comes back after whatever happens, from where it was, until the end is told. */
async function endOf(
  client: WireClient,
  stream_id: string,
  first: StreamFollower,
  more: { window_bytes?: number; resume_key?: string },
): Promise<Ended> {
  for (let follower = first; ; ) {
    const end = await follower.end;
    client.books.figures.bytes += follower.bytes;
    const wire = end.how === "exit" ? undefined : await client.wire();
    if (!wire) return { follower, end };
    if (end.how === "lagged") client.books.fault("let go for stalling");
    const { known, encoding, next } = follower;
    const again = new StreamFollower(known, { ...next }, encoding);
    if (more.resume_key) acknowledging(wire, stream_id, again);
    const reply = await client.ask(
      "exec.attach",
      { stream_id, stdout_offset: next.stdout, stderr_offset: next.stderr, encoding, ...more },
      {
        wire,
        expected: ["STREAM_NOT_FOUND"],
        onReply: ({ ok }) => void (ok && wire.follow(stream_id, again)),
      },
    );
    if (reply && !reply.ok) return { follower, end };
    if (!reply) again.gone();
    follower = again;
  }
}

async function finish(
  client: WireClient,
  sessionId: string,
  streamId: string,
  { follower, end }: Ended,
): Promise<void> {
  if (end.how !== "exit") return await client.leaveSession(); // nobody knows how it goes on
  const { world } = client;
  const mayBeInterrupted = world.mayHaveEnded(sessionId) || world.mayHaveEnded(streamId);
  const wrong = follower.check(end.frame, mayBeInterrupted);
  if (wrong)
    client.problem(`${streamId} (${follower.known.command}): ${wrong}: ${JSON.stringify(end.frame)}`);
}

/** What is written comes back, in order. */
const input = step({
  name: "input",
  weight: 2,
  draw: (random) =>
    Array.from({ length: random.between(1, 8) }, () => random.bytes(random.pick([1, 100, 30_000]))),
  async act(client: WireClient, pieces) {
    if (client.listener === "http") return;
    const session_id = await client.session();
    const wire = await client.wire();
    if (session_id === undefined || !wire) return;
    const stream_id = client.world.newCommandId();
    const content = Buffer.concat(pieces);
    const matches = (offset: number, bytes: Uint8Array) =>
      content.subarray(offset, offset + bytes.length).equals(bytes);
    const stdout = { length: content.length, matches };
    const known = { ...sleeper, command: "cat", stdout };
    const follower = new StreamFollower(known, { stdout: 0, stderr: 0 }, "base64");
    const started = await client.ask(
      "exec.stream",
      { session_id, command: "cat", command_id: stream_id, encoding: "base64", open_stdin: true },
      { wire, onReply: ({ ok }) => void (ok && wire.follow(stream_id, follower)) },
    );
    if (!started?.ok) return await client.leaveSession();
    const { world } = client;
    const isOver = () => world.mayHaveEnded(session_id);
    const writes = pieces.map((piece, i) => {
      const data = Buffer.from(piece).toString("base64");
      return wire.ask("exec.write", { stream_id, data, encoding: "base64", eof: i === pieces.length - 1 });
    });
    const replies = await Promise.all(writes);
    // Who was killed in between has not closed the input: nothing more will come.
    if (replies.includes(undefined)) return await client.end(session_id);
    if (replies.some((reply) => !reply!["ok"]) && !isOver()) client.problem("exec.write was refused");
    await finish(client, session_id, stream_id, await endOf(client, stream_id, follower, {}));
  },
});

/** Never read to its end: somebody looks for a while, perhaps not at all, and stops it. */
const outputFlood = step({
  name: "output flood",
  weight: 1,
  draw: (random) => ({
    readMs: random.pick([0, 10, 60]),
    stallMs: random.pick([0, 50, 1300]),
    encoding: drawEncoding(random),
    by: random.pick(["cancel", "destroy"]),
  }),
  async act(client: WireClient, { readMs, stallMs, encoding, by }) {
    const session_id = await client.session();
    const wire = session_id === undefined ? undefined : await client.another();
    if (session_id === undefined || !wire) return;
    client.books.fault("output flood");
    const stream_id = client.world.newCommandId();
    const follower = new StreamFollower(flood, { stdout: 0, stderr: 0 }, encoding);
    const started = await client.ask(
      "exec.stream",
      { session_id, command: flood.command, command_id: stream_id, encoding },
      { wire, onReply: ({ ok }) => void (ok && wire.follow(stream_id, follower)) },
    );
    if (!started?.ok) {
      wire.kill();
      return await client.leaveSession();
    }
    await Bun.sleep(readMs);
    wire.pause();
    await Bun.sleep(stallMs);
    client.world.doomed.add(stream_id);
    if (by === "destroy") await client.end(session_id);
    else await client.ask("exec.cancel", { stream_id }, { expected: ["STREAM_NOT_FOUND"] });
    wire.resume();
    const end = await follower.end;
    client.books.figures.bytes += follower.bytes;
    const wrong = end.how === "exit" && follower.check(end.frame, true);
    if (wrong) client.problem(`flood: ${wrong}`);
    wire.kill();
    if (end.how !== "exit") await client.leaveSession();
  },
});

export const commandSteps: Step<unknown, WireClient>[] = [run, timeout, stream, input, outputFlood];
