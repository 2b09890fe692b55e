import { describe, expect, test } from "bun:test";
import { eventFormat, hasEvents, resumed } from "../../../../../src/server/transports/http/events.ts";

function idsOf(frames: object[], encoding?: string): (string | undefined)[] {
  const format = eventFormat(encoding);
  return frames.map((frame) => {
    const text = Buffer.from(format(Buffer.from(`${JSON.stringify(frame)}\n`))).toString();
    const [, id, data] = /^(?:retry: \d+\n)?(?:id: (.*)\n)?event: \w+\ndata: (.*)\n\n$/.exec(text)!;
    expect(JSON.parse(data!)).toEqual(frame);
    return id;
  });
}

const x = "x-0123abcd";

describe("the id of an event holds the offsets", () => {
  test("of a stream: bytes, not characters", () => {
    const frames = [
      { id: 1, ok: true, data: { stream_id: x, session_id: "s-1" } },
      { stream_id: x, type: "stdout", data: "é\n", offset: 0 },
      { stream_id: x, type: "stderr", data: "\ufffd", offset: 0, bytes: 1 },
      { stream_id: x, type: "gap", stream: "stdout", from: 3, to: 100 },
      { stream_id: x, type: "stdout", data: "a", offset: 100 },
      { stream_id: x, type: "exit", exit_code: 0 },
    ];
    expect(idsOf(frames)).toEqual([
      `${x}:0:0`,
      `${x}:3:0`,
      `${x}:3:1`,
      `${x}:100:1`,
      `${x}:101:1`,
      `${x}:101:1`,
    ]);
  });

  test("of a stream in base64, resumed in the middle", () => {
    const frames = [
      { id: 1, ok: true, data: { stream_id: x, stdout_offset: 7, stderr_offset: 9 } },
      { stream_id: x, type: "stdout", data: "AAAA", offset: 7 },
    ];
    expect(idsOf(frames, "base64")).toEqual([`${x}:7:9`, `${x}:10:9`]);
  });

  test("of a terminal", () => {
    const frames = [
      { id: 1, ok: true, data: { session_id: "t", offset: 5 } },
      { session_id: "t", type: "output", data: "AAAA", offset: 50, redraw: true },
      { session_id: "t", type: "output", data: "AAAA", offset: 50 },
      { session_id: "t", type: "resize", cols: 1, rows: 1 },
      { session_id: "t", type: "gap", from: 53, to: 99 },
      { session_id: "t", type: "exit", exit_code: 0 },
    ];
    expect(idsOf(frames)).toEqual([undefined, "t:50", "t:53", undefined, "t:99", undefined]);
  });

  test("an error event has no id", () =>
    expect(idsOf([{ id: 1, ok: false, error: { code: "SESSION_BUSY", message: "" } }])).toEqual([undefined]));
});

test("only the first event has the reconnection delay", () => {
  const format = eventFormat(undefined);
  const texts = [
    { id: 1, ok: true },
    { stream_id: x, type: "exit" },
  ].map((frame) => Buffer.from(format(Buffer.from(`${JSON.stringify(frame)}\n`))).toString());
  expect(texts[0]).toStartWith("retry: 1000\nevent: reply\n");
  expect(texts[1]).not.toContain("retry:");
});

describe("a request with Last-Event-ID", () => {
  const stream = {
    id: 1,
    method: "exec.stream",
    params: { session_id: "s-1", command: "rm x", encoding: "base64", stdin: "y" },
  };

  test("for a stream becomes an attachment", () => {
    expect(resumed(stream, `${x}:5:6`)).toEqual({
      id: 1,
      method: "exec.attach",
      params: {
        stream_id: x,
        stdout_offset: 5,
        stderr_offset: 6,
        encoding: "base64",
        stall_timeout_s: undefined,
      },
    });
  });

  test("for an attachment resumes it, if the id is of the same stream", () => {
    const attach = { id: 1, method: "exec.attach", params: { stream_id: x } };
    expect(resumed(attach, `${x}:5:6`)["params"]).toMatchObject({ stdout_offset: 5, stderr_offset: 6 });
    expect(resumed(attach, "x-99999999:5:6")).toBe(attach);
  });

  test("for a terminal resumes at its offset, whatever its name", () => {
    const subscribe = (session_id: string) => ({
      id: 1,
      method: "pty.subscribe",
      params: { session_id, replay: "screen" },
    });
    expect(resumed(subscribe("a:1"), "a:1:77")["params"]).toEqual({ session_id: "a:1", from: 77 });
    expect(resumed(subscribe("b"), "a:1:77")).toEqual(subscribe("b"));
  });

  test("is refused if the id is invalid: the command would run a second time", () => {
    const others = [
      "x",
      `${x}:5`,
      `${x}:a:b`,
      `${x}:5:6:7`,
      "t:1",
      `${x}:1e9:0`,
      `${x}:-1:0`,
      `${x};5;6`,
      ` ${x}:5:6`,
    ];
    for (const id of others) expect(() => resumed(stream, id)).toThrow("Last-Event-ID");
  });

  test("for another method, or without the header, is unchanged", () => {
    for (const id of [null, ""]) expect(resumed(stream, id)).toBe(stream);
    for (const method of ["exec.run", "system.ping", 5, undefined]) {
      const request = { id: 1, method, params: null };
      expect(resumed(request, `${x}:5:6`)).toBe(request);
    }
  });
});

test("the method table says which methods have events", () => {
  expect(["exec.stream", "exec.attach", "pty.subscribe"].every(hasEvents)).toBeTrue();
  for (const method of ["exec.run", "toString", "", undefined, 5, {}]) expect(hasEvents(method)).toBeFalse();
});
