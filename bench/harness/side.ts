// One side of a comparison: a process that reads `COUNT PAUSE_US` from a line, does its work so many times, and
// answers with a line of nanoseconds: those of the whole block, then those of each time.
import { leaving } from "./leavings.ts";

export interface Block {
  wallMs: number;
  samplesMs: number[];
}

export class Side implements AsyncDisposable {
  readonly #child: Bun.Subprocess<"pipe", "pipe", "inherit">;
  readonly #lines: AsyncIterator<string>;
  readonly #isGone: () => void;

  private constructor(command: string[], env: Record<string, string>) {
    this.#child = Bun.spawn(command, {
      stdio: ["pipe", "pipe", "inherit"],
      env: { ...process.env, ...env },
    });
    this.#lines = linesOf(this.#child.stdout);
    this.#isGone = leaving(() => this.#child.kill());
  }

  static async start(command: string[], env: Record<string, string> = {}): Promise<Side> {
    const side = new Side(command, env);
    const { value } = await side.#lines.next();
    if (value !== "ready") throw new Error(`${command[0]} is not ready but says: ${value}`);
    return side;
  }

  async run(count: number, pauseMs = 0): Promise<Block> {
    this.#child.stdin.write(`${count} ${Math.round(pauseMs * 1000)}\n`);
    this.#child.stdin.flush();
    const { value } = await this.#lines.next();
    if (value === undefined) throw new Error("a side of the comparison has ended; what it said is above");
    const [wallMs = 0, ...samplesMs] = value.split(" ").map((ns: string) => Number(ns) / 1e6);
    return { wallMs, samplesMs };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin.end();
    this.#child.kill();
    await this.#child.exited;
    this.#isGone();
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const pieces = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = pieces.pop()!;
    yield* pieces;
  }
}

export interface OutputScheduler {
  /** Times for each side, and how many of them in a row. */
  count: number;
  blockOf: number;
  pauseMs?: number;
  /** Before what is measured: the engine of the daemon compiles what is used often. */
  warmUp?: number;
}

/** They take turns, block by block, so that all meet the same noise. A side that is missing stays undefined. */
export async function takeTurns<Name extends string>(
  sides: Record<Name, Side | undefined>,
  { count, blockOf, pauseMs = 0, warmUp = 0 }: OutputScheduler,
): Promise<Record<Name, Block | undefined>> {
  const names = Object.keys(sides) as Name[];
  const result = {} as Record<Name, Block | undefined>;
  for (const name of names) {
    if (warmUp > 0) await sides[name]?.run(warmUp);
    result[name] = sides[name] && { wallMs: 0, samplesMs: [] };
  }
  for (let done = 0; done < count; done += blockOf) {
    for (const name of names) {
      const block = await sides[name]?.run(blockOf, pauseMs);
      if (!block) continue;
      result[name]!.wallMs += block.wallMs;
      result[name]!.samplesMs.push(...block.samplesMs);
    }
  }
  return result;
}
