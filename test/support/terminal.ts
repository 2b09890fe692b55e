// A terminal of the daemon, and somebody who watches it.
import type { Params } from "../../src/protocol/methods.ts";
import { Display } from "./screen.ts";
import { hangMs, until } from "./wait.ts";
import type { Frame, Wire } from "./wire.ts";

export async function newTerminal(wire: Wire, params: Params<"pty.create"> = {}) {
  const created = await wire.call("pty.create", { env: { PS1: "$ " }, ...params });
  const { session_id } = created;
  return {
    ...created,
    id: session_id,
    type: (data: string) => wire.call("pty.write", { session_id, data }),
    waitFor: (text: string, timeout_s = 15) =>
      expectMatch(wire, { session_id, until: { text }, timeout_s }, "text"),
    waitForRegex: (regex: string, timeout_s = 15) =>
      expectMatch(wire, { session_id, until: { regex }, timeout_s }, "regex"),
    waitForExit: (timeout_s = 15) =>
      expectMatch(wire, { session_id, until: { exit: true }, timeout_s }, "exit"),
    snapshot: (more: Partial<Params<"pty.snapshot">> = {}) =>
      wire.call("pty.snapshot", { session_id, ...more }),
    // A list leaves out a runtime that does not answer soon.
    summary: () =>
      until(`${session_id} in the list`, async () =>
        (await wire.call("pty.list", {})).sessions.find((terminal) => terminal.session_id === session_id),
      ),
  };
}

async function expectMatch(wire: Wire, params: Params<"pty.wait">, wanted: string) {
  const { matched, screen } = await wire.call("pty.wait", params);
  if (matched === wanted) return screen;
  throw new Error(`${JSON.stringify(params.until)}: ${matched}; the screen is\n${screen.lines?.join("\n")}`);
}

/** Follows a terminal as a frontend does: its bytes with their offsets, and what they show. */
export class Watcher {
  /** Output without the redraws. */
  bytes = Buffer.alloc(0);
  frames: Frame[] = [];
  end: number;
  display: Display;
  exit: Frame | undefined;
  isExact = true;
  /** To draw and to keep a flood takes longer than to make it; then only its last bytes are kept. */
  keeps = true;
  tail = "";
  #chunks: Buffer[] = [];

  static async subscribe(wire: Wire, params: Params<"pty.subscribe">): Promise<Watcher> {
    // Frames may come right behind the reply.
    const early: Frame[] = [];
    let watcher: Watcher | undefined;
    const before = wire.onFrame;
    wire.onFrame = (frame) => {
      before?.(frame);
      if (frame["session_id"] !== params.session_id || frame["type"] === undefined) return;
      if (watcher) watcher.#take(frame);
      else early.push(frame);
    };
    const { offset, cols, rows } = await wire.call("pty.subscribe", params);
    watcher = new Watcher(offset, cols, rows);
    for (const frame of early) watcher.#take(frame);
    return watcher;
  }

  private constructor(offset: number, cols: number, rows: number) {
    this.end = offset;
    this.display = new Display(cols, rows);
  }

  get all(): Buffer {
    this.bytes = Buffer.concat([this.bytes, ...this.#chunks.splice(0)]);
    return this.bytes;
  }

  untilExit(timeoutMs = hangMs): Promise<Frame> {
    return until("the exit frame", () => this.exit, timeoutMs);
  }

  #take(frame: Frame): void {
    this.frames.push(frame["type"] === "output" ? { ...frame, data: undefined } : frame);
    switch (frame["type"]) {
      case "output": {
        const data = Buffer.from(frame["data"], "base64");
        if (this.keeps) this.display.write(data);
        else this.tail = data.subarray(-100).toString("latin1");
        if (frame["redraw"]) {
          this.end = frame["offset"];
          return;
        }
        if (frame["offset"] !== this.end) this.isExact = false;
        this.end = frame["offset"] + data.length;
        if (this.keeps) this.#chunks.push(data);
        return;
      }
      case "resize":
        this.display.terminal.resize(frame["cols"], frame["rows"]);
        return;
      case "gap":
        this.end = frame["to"];
        return;
      case "exit":
        this.exit = frame;
    }
  }
}
