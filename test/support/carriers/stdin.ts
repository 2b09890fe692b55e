// The daemon's standard input and output. There is one such connection, so the tests of a daemon share it: whoever
// leaves hands it on, and it is free again when nothing more comes of what was asked.
import { type Carrier, type CarrierEvents, LineSplitter } from "./carrier.ts";

interface Pipes {
  stdin: Bun.FileSink;
  stdout: ReadableStream<Uint8Array>;
}

const handOverMs = 250;

export class StdinConnection {
  readonly #pipes: Pipes;
  #holder: CarrierEvents | undefined;
  /** Methods of requests without a reply yet, by their ids. */
  readonly #asked = new Map<unknown, string>();
  /** Streams and terminals of which more will come. */
  readonly #followed = new Set<string>();
  #pause: Promise<void> | undefined;
  #resume: (() => void) | undefined;
  #isClosed = false;
  /** Resolves when the daemon has closed its output and all of it was read. */
  readonly ended: Promise<void>;

  constructor(pipes: Pipes) {
    this.#pipes = pipes;
    this.ended = this.#read();
  }

  /** Undefined where somebody has it, or what was asked by the last one still goes on after a while. */
  async take(events: CarrierEvents): Promise<Carrier | undefined> {
    const deadline = performance.now() + handOverMs;
    while (!this.#holder && !this.#isFree && performance.now() < deadline) await Bun.sleep(5);
    if (this.#holder || !this.#isFree) return undefined;
    this.#holder = events;
    return {
      send: (bytes) => this.#send(bytes),
      endInput: () => void this.#pipes.stdin.end(),
      pause: () => {
        this.#pause ??= new Promise((resolve) => {
          this.#resume = resolve;
        });
      },
      resume: () => this.#goOn(),
      terminate: () => {
        if (this.#holder === events) this.#holder = undefined;
        this.#goOn(); // what is left is read, and dropped
      },
    };
  }

  get #isFree(): boolean {
    return !this.#isClosed && this.#asked.size === 0 && this.#followed.size === 0;
  }

  #goOn(): void {
    this.#resume?.();
    this.#pause = undefined;
  }

  #send(bytes: Uint8Array): void {
    for (const line of Buffer.from(bytes).toString().trimEnd().split("\n")) {
      const { id, method } = JSON.parse(line) as { id: unknown; method: string };
      this.#asked.set(id, method);
    }
    this.#pipes.stdin.write(bytes);
    void this.#pipes.stdin.flush();
  }

  async #read(): Promise<void> {
    const lines = new LineSplitter();
    for await (const chunk of this.#pipes.stdout) {
      await this.#pause;
      for (const line of lines.push(chunk)) {
        this.#note(line);
        this.#holder?.line(line);
      }
    }
    this.#isClosed = true;
    this.#holder?.closed();
  }

  #note(line: string): void {
    const isOutput =
      !line.startsWith('{"id"') && !line.includes('"type":"exit"') && !line.includes('"lagged"');
    if (isOutput) return; // most of a flood
    const { id, data, type, stream_id, session_id } = JSON.parse(line);
    if (type !== undefined) {
      if (type === "exit" || type === "lagged") this.#followed.delete(stream_id ?? session_id);
      return;
    }
    const method = this.#asked.get(id);
    this.#asked.delete(id);
    if (!data) return; // of an error nothing follows
    if (method === "exec.stream" || method === "exec.attach") this.#followed.add(data.stream_id);
    if (method === "pty.subscribe") this.#followed.add(data.session_id);
    if (method === "pty.unsubscribe") this.#followed.delete(data.session_id);
  }
}
