// xterm.js on a simulated daemon, frame by frame: order, sizes and the end.
import { expect, test } from "bun:test";
import { Terminal as Xterm } from "@xterm/headless";
import { connect } from "../../../src/client/connect-browser.ts";
import { attachXterm, type XtermOptions } from "../../../src/client/xterm.ts";
import { until } from "../../support/wait.ts";

type Answer = (params: Record<string, unknown>) => unknown;

/** A daemon with one terminal, 20x4. Frames in `behind` arrive in one piece with the reply to the subscription. */
async function simulated(behind: object[], answers: Record<string, Answer> = {}, options: XtermOptions = {}) {
  const asked: { method: string; params: Record<string, unknown> }[] = [];
  let push = (_frame: object) => {};
  let cut = (_error: Error) => {};
  const summary = { session_id: "desk", name: null, pid: 1, cols: 20, rows: 4, state: "running" };
  const replies: Record<string, Answer> = {
    "pty.list": () => ({ sessions: [summary] }),
    "pty.resize": ({ cols, rows }) => ({ session_id: "desk", cols, rows, applied: true }),
    "pty.subscribe": () => ({ session_id: "desk", offset: 0, cols: 20, rows: 4, state: "running" }),
    ...answers,
  };
  const trl = await connect(
    {
      open: ({ message, closed }) => {
        push = (frame) => message(JSON.stringify({ session_id: "desk", ...frame }));
        cut = closed;
        const send = (text: string) => {
          const { id, method, params } = JSON.parse(text);
          asked.push({ method, params });
          message(JSON.stringify({ id, ok: true, data: replies[method]?.(params) ?? {} }));
          if (method === "pty.subscribe") for (const frame of behind) push(frame);
        };
        return { send: (text) => queueMicrotask(() => send(text)), close: () => {} };
      },
    },
    { patienceS: 0 },
  );
  const terminal = await trl.terminal({ sessionId: "desk", reuse: true });
  const xterm = new Xterm({ cols: 30, rows: 6, allowProposedApi: true });
  const attached = attachXterm(terminal, xterm, options);
  const line = (row: number) => xterm.buffer.active.getLine(row)?.translateToString(true);
  await until("a subscription", () => asked.some(({ method }) => method === "pty.subscribe"));
  return {
    asked,
    push: (frame: object) => push(frame),
    cut: (error: Error) => cut(error),
    xterm,
    attached,
    line,
  };
}

const output = (text: string, more: object = {}) => ({
  type: "output",
  data: Buffer.from(text).toString("base64"),
  offset: 0,
  ...more,
});

test("a redraw in one piece with the reply is drawn in the size of the reply", async () => {
  // 25 characters: one line in the 30 columns of the window, two in the terminal's 20
  const { xterm, line } = await simulated([output("a".repeat(25), { redraw: true })]);
  await until("the redraw", () => line(0));
  expect([xterm.cols, xterm.rows]).toEqual([20, 4]);
  expect([line(0), line(1)]).toEqual(["a".repeat(20), "a".repeat(5)]);
});

test("a redraw replaces earlier writes, also those that xterm.js has not parsed yet", async () => {
  const { push, line, xterm } = await simulated([]);
  for (let i = 0; i < 50; i++) push(output(`old ${i}\r\n`));
  push(output("new", { redraw: true, offset: 400 }));
  await until("the redraw", () => line(0)?.startsWith("new"));
  expect(xterm.buffer.active.length).toBe(4);
  expect([line(0), line(1), line(2)]).toEqual(["new", "", ""]);
});

test("a change of size keeps its position in the output", async () => {
  const { push, line, xterm } = await simulated([]);
  push(output("\x1b[18Gb\r\n")); // the 18th column, which 10 columns do not have
  push({ type: "resize", cols: 10, rows: 4 });
  push(output("c", { offset: 8 }));
  await until("the last character", () => line(2) === "c");
  expect(xterm.cols).toBe(10);
  expect(line(1)).toBe("       b"); // wrapped by the change
});

test("if another window decides the size, this one goes back to the terminal's size", async () => {
  const { xterm, asked } = await simulated([], {
    "pty.resize": () => ({ session_id: "desk", cols: 20, rows: 4, applied: false }),
  });
  await until("the size that holds", () => xterm.cols === 20);
  xterm.resize(44, 11);
  await until("the size that holds, again", () => xterm.cols === 20 && xterm.rows === 4);
  const wanted = asked.filter(({ method }) => method === "pty.resize").map(({ params }) => params["cols"]);
  expect(new Set(wanted)).toEqual(new Set([30, 44])); // what is followed is not asked for
});

test("after the exit keys have no effect and cause no error", async () => {
  const told: unknown[] = [];
  const { xterm, push, asked } = await simulated(
    [],
    {},
    {
      onExit: (exit) => told.push(exit),
      onError: (error) => told.push(error),
    },
  );
  xterm.input("x");
  await until("the key", () => asked.some(({ method }) => method === "pty.write"));
  push({ type: "exit", exit_code: 3, signal: null, offset: 0 });
  xterm.input("y");
  xterm.resize(10, 10);
  await Bun.sleep(0);
  expect(told).toEqual([{ exitCode: 3, signal: null }]);
  expect(asked.filter(({ method }) => method === "pty.write")).toHaveLength(1);
});

test("a lost connection that does not come back is reported as the end", async () => {
  const told: { message: string; isOver: boolean }[] = [];
  const { cut } = await simulated(
    [],
    {},
    {
      onError: ({ message }, { isOver }) => told.push({ message, isOver }),
    },
  );
  cut(new Error("pulled out"));
  await until("the error", () => told.length);
  expect(told).toEqual([{ message: "pulled out", isOver: true }]);
});

test("disposing leaves xterm.js unchanged and stops watching the terminal", async () => {
  const { attached, asked, xterm, line } = await simulated([output("stays", { redraw: true })]);
  await until("the redraw", () => line(0) === "stays");
  attached[Symbol.dispose]();
  xterm.input("z");
  await until("the farewell", () => asked.some(({ method }) => method === "pty.unsubscribe"));
  expect(asked.some(({ method }) => method === "pty.write")).toBe(false);
  expect(line(0)).toBe("stays");
});

test("windows that open at once share the terminal that one of them creates", async () => {
  const made = { session_id: "desk", name: null, pid: 1, state: "running" };
  let isMade = false;
  const replies: Record<string, () => object> = {
    "system.ping": () => ({ ok: true, data: {} }),
    // Another window creates it right after the list.
    "pty.list": () => ({ ok: true, data: { sessions: isMade ? [made] : [] } }),
    "pty.create": () => {
      isMade = true;
      return { ok: false, error: { code: "INVALID_PARAMS", message: "session_id: desk is in use" } };
    },
  };
  const trl = await connect({
    open: ({ message }) => ({
      send(text) {
        const { id, method } = JSON.parse(text);
        queueMicrotask(() => message(JSON.stringify({ id, ...replies[method]!() })));
      },
      close() {},
    }),
  });
  expect((await trl.terminal({ sessionId: "desk", reuse: true })).id).toBe("desk");
});
