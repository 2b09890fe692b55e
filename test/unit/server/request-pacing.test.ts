// What one client says in one turn of the event loop is taken up in part: others come in between.
import { expect, test } from "bun:test";
import { linesPerTurnMax } from "../../../src/server/limits.ts";
import { Inbox } from "../../../src/server/request-reader.ts";

const noTransport = { write: () => 0, pauseReading() {}, resumeReading() {}, close() {} };

test("however many chunks come in one turn, only so many lines are answered in it, and all in order", async () => {
  const answered: string[] = [];
  const transport = { ...noTransport, senderWaits: true };
  const inbox = new Inbox(1000, transport, {
    ...{ isClosed: false, isFull: false, hasReadOn() {} },
    answer: (line) =>
      void answered.push(line.kind === "line" ? Buffer.from(line.bytes).toString() : line.kind),
  });
  const chunks = 20;
  const said = Array.from({ length: chunks * linesPerTurnMax * 2 }, (_, at) => String(at));
  const perChunk = said.length / chunks;
  for (let at = 0; at < said.length; at += perChunk)
    inbox.receive(Buffer.from(`${said.slice(at, at + perChunk).join("\n")}\n`));
  inbox.end();
  let most = answered.length;
  while (!inbox.isDone) {
    const before = answered.length;
    await new Promise((resolve) => setImmediate(resolve));
    most = Math.max(most, answered.length - before);
  }
  expect(most).toBeLessThanOrEqual(linesPerTurnMax);
  expect(answered).toEqual(said);
});

test("a client that asks faster than it is answered is not read until less of it waits", async () => {
  const events: string[] = [];
  let answered = 0;
  const inbox = new Inbox(
    1000,
    {
      ...noTransport,
      senderWaits: true,
      pauseReading: () => void events.push(`paused at ${answered}`),
      resumeReading: () => void events.push("resumed"),
    },
    { isClosed: false, isFull: false, hasReadOn() {}, answer: () => void answered++ },
  );
  const line = `${"x".repeat(999)}\n`;
  const chunk = Buffer.from(line.repeat(1000));
  for (let at = 0; at < 3; at++) inbox.receive(chunk);
  expect(events).toEqual([`paused at ${linesPerTurnMax}`]);
  for (let turns = 0; events.length < 2 && turns < 1000; turns++)
    await new Promise((resolve) => setImmediate(resolve));
  expect(events.at(-1)).toBe("resumed");
  expect(answered).toBeLessThan(3000);
  while (answered < 3000) await new Promise((resolve) => setImmediate(resolve));
  expect(events.length).toBe(2);
});
