// Fields read from the two ends of a frame are those of the parsed frame.
import { describe, expect, test } from "bun:test";
import {
  frameOf,
  streamOutput,
  terminalOutput,
  withoutEnd,
} from "../../../../src/remote/subscriptions/frame-text.ts";

const json = (value: unknown) => JSON.stringify(value);
const frame = (value: unknown) => frameOf(json(value))!;

test("a reply is no frame, whatever its data contains", () => {
  expect(frameOf(json({ id: "1", ok: true, data: { stream_id: "x-1", type: "stdout" } }))).toBeUndefined();
  expect(frameOf(json({ ok: true, id: "1", data: {} }))).toBeUndefined();
});

describe("a command's output", () => {
  const base = { stream_id: "x-1", type: "stdout" };
  const tricky = 'quotes " and ","offset":7,"end":9} in it\n';
  test.each([
    [{ ...base, data: "one\n", offset: 4, end: 8 }, 4, 8],
    [{ ...base, data: tricky, offset: 40, end: 99 }, 40, 99],
    [{ ...base, data: "\uFFFD", offset: 0, bytes: 1, end: 1 }, 0, 1],
    // Another field order, as a daemon of another version may send.
    [{ type: "stdout", offset: 3, data: "ä", stream_id: "x-1" }, 3, 5],
    [{ ...base, data: "\uFFFD", offset: 0, bytes: 1 }, 0, 1],
  ])("%j", (value, offset, end) => {
    expect(frame(value)).toMatchObject({ id: "x-1", type: "stdout" });
    expect(streamOutput(frame(value))).toEqual({ offset, end, isRedraw: false });
  });

  test("without a window has no end and is otherwise the same", () => {
    expect(withoutEnd(json({ ...base, data: tricky, offset: 40, end: 99 }))).toBe(
      json({ ...base, data: tricky, offset: 40 }),
    );
    const long = "x".repeat(500);
    expect(withoutEnd(json({ ...base, data: long, offset: 0, bytes: 9, end: 9 }))).toBe(
      json({ ...base, data: long, offset: 0, bytes: 9 }),
    );
    const none = json({ ...base, data: tricky, offset: 40 });
    expect(withoutEnd(none)).toBe(none);
  });
});

describe("a terminal's output", () => {
  for (const length of [0, 1, 2, 3, 4, 500]) {
    const data = Buffer.alloc(length, "a").toString("base64");
    test(`of ${length} bytes`, () => {
      const value = { session_id: "desk", type: "output", data, offset: 10 };
      expect(terminalOutput(frame(value))).toEqual({ data, offset: 10, end: 10 + length, isRedraw: false });
      const { session_id, ...rest } = value;
      expect(terminalOutput(frame({ ...rest, session_id }))).toMatchObject({ data, end: 10 + length });
      expect(terminalOutput(frame({ ...value, redraw: true }))).toMatchObject({ end: 10, isRedraw: true });
    });
  }
});
