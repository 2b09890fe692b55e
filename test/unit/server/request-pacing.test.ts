// A connection answers a bounded number of lines in one turn of the event loop, so that other clients are served.
import { expect, test } from "bun:test";
import type { Line } from "../../../src/protocol/frame.ts";
import { Connection } from "../../../src/server/connection.ts";
import { newCounters } from "../../../src/server/counters.ts";
import type { Dispatcher } from "../../../src/server/dispatch.ts";
import { linesPerTurnMax } from "../../../src/server/limits.ts";
import { FrameRests } from "../../../src/server/outgoing-queue.ts";
import type { TransportStream } from "../../../src/server/transports/transport-stream.ts";

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** A connection that sends no replies. */
function connect(answer: (line: Line) => void, more: Partial<TransportStream> = {}): Connection {
  const stream: TransportStream = {
    ...{ write: () => 0, senderWaits: true, pauseReading() {}, resumeReading() {}, close() {} },
    ...more,
  };
  const dispatcher = { answer } as unknown as Dispatcher;
  const connectionLimits = { sessions: 1, commands: 1, requests: 8, queuedBytes: 1000 };
  const counters = newCounters();
  const services = { dispatcher, counters, connectionLimits, maxLineBytes: 1000, rests: new FrameRests() };
  return new Connection(stream, services, "c1");
}

test("however many chunks come in one turn, only so many lines are answered in it, and all in order", async () => {
  const answered: string[] = [];
  let isClosed = false;
  const answer = (line: Line) =>
    void answered.push(line.kind === "line" ? Buffer.from(line.bytes).toString() : line.kind);
  const close = () => {
    isClosed = true;
  };
  const connection = connect(answer, { close });
  const chunks = 20;
  const sent = Array.from({ length: chunks * linesPerTurnMax * 2 }, (_, at) => String(at));
  const perChunk = sent.length / chunks;
  for (let at = 0; at < sent.length; at += perChunk)
    connection.receive(Buffer.from(`${sent.slice(at, at + perChunk).join("\n")}\n`));
  connection.endOfInput();
  let most = answered.length;
  while (!isClosed) {
    const before = answered.length;
    await nextTurn();
    most = Math.max(most, answered.length - before);
  }
  expect(most).toBeLessThanOrEqual(linesPerTurnMax);
  expect(answered).toEqual(sent);
});

test("reading pauses while a client sends faster than it is answered", async () => {
  const events: string[] = [];
  let answered = 0;
  const connection = connect(() => void answered++, {
    pauseReading: () => void events.push(`paused at ${answered}`),
    resumeReading: () => void events.push("resumed"),
  });
  const line = `${"x".repeat(999)}\n`;
  const chunk = Buffer.from(line.repeat(1000));
  for (let at = 0; at < 3; at++) connection.receive(chunk);
  expect(events).toEqual([`paused at ${linesPerTurnMax}`]);
  for (let turns = 0; events.length < 2 && turns < 1000; turns++) await nextTurn();
  expect(events.at(-1)).toBe("resumed");
  expect(answered).toBeLessThan(3000);
  while (answered < 3000) await nextTurn();
  expect(events.length).toBe(2);
});

test("a reading pause ends when pending requests are answered", async () => {
  const events: string[] = [];
  const first = Promise.withResolvers<undefined>();
  const connection = connect(() => first.promise as never, {
    pauseReading: () => void events.push("paused"),
    resumeReading: () => void events.push("resumed"),
  });
  for (let at = 0; at < 8; at++) connection.receive(Buffer.from("{}\n"));
  expect(events).toEqual(["paused"]);
  first.resolve(undefined);
  await nextTurn();
  expect(events).toEqual(["paused", "resumed"]);
});
