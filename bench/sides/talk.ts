// The measuring client of native/talk.c, with the same options, for machines without a C compiler.
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    socket: { type: "string", short: "s" },
    program: { type: "boolean", short: "c" },
    until: { type: "string", short: "u" },
    hello: { type: "string", short: "h" },
    ready: { type: "string", short: "r" },
    watchers: { type: "string", short: "n" },
    peers: { type: "string", short: "k" },
    end: { type: "boolean", short: "e" },
    line: { type: "string", short: "l", multiple: true },
  },
});
const tailBytes = 1024;
const mark = values.until!;
const lines = values.line!;

class Peer {
  say = (_text: string) => {};
  said = 0;
  #tail = Buffer.alloc(0);
  #wanted = values.ready ?? mark;
  #heard = () => {};

  /** Resolves at the next mark; a second one that came with it is not counted. */
  next(wanted: string): Promise<void> {
    this.#wanted = wanted;
    return new Promise((resolve) => {
      this.#heard = resolve;
    });
  }

  take(chunk: Buffer): void {
    const keep = values.end ? tailBytes : this.#wanted.length - 1;
    const text = this.#tail.length === 0 ? chunk : Buffer.concat([this.#tail, chunk]);
    const at = (values.end ? text.subarray(-tailBytes) : text).includes(this.#wanted);
    this.#tail = at || keep === 0 ? Buffer.alloc(0) : Buffer.from(text.subarray(-keep));
    if (at) this.#heard();
  }
}

async function connect(): Promise<Peer> {
  const peer = new Peer();
  const socket = await Bun.connect({
    unix: values.socket!,
    socket: { data: (_, chunk) => peer.take(chunk), close: () => process.exit() },
  });
  peer.say = (text) => void socket.write(text);
  return peer;
}

function startProgram(): Peer {
  const peer = new Peer();
  const child = Bun.spawn(positionals, { stdio: ["pipe", "pipe", "inherit"] });
  peer.say = (text) => {
    child.stdin.write(text);
    child.stdin.flush();
  };
  void (async () => {
    for await (const chunk of child.stdout) peer.take(Buffer.from(chunk));
  })();
  return peer;
}

const now = () => Bun.nanoseconds();

async function sayOne(peer: Peer, line: string, pauseUs: number, all: Peer[]): Promise<number> {
  if (pauseUs > 0) await Bun.sleep(pauseUs / 1000);
  const heard = all.map((each) => each.next(mark));
  const began = now();
  peer.say(`${line}\n`);
  await (heard.length === 1 ? heard[0] : Promise.all(heard));
  return now() - began;
}

async function runBlock(count: number, pauseUs: number): Promise<number[]> {
  const samples: number[] = [];
  const speakers = values.watchers ? peers.slice(0, 1) : peers;
  let left = count;
  await Promise.all(
    speakers.map(async (peer, at) => {
      const own = lines.filter((_, line) => line % speakers.length === at);
      for (; left-- > 0; peer.said++)
        samples.push(
          await sayOne(peer, own[peer.said % own.length]!, pauseUs, values.watchers ? peers : [peer]),
        );
    }),
  );
  return samples;
}

const peerCount = Number(values.watchers ?? values.peers ?? lines.length);
const peers = values.program
  ? [startProgram()]
  : await Promise.all(Array.from({ length: peerCount }, () => connect()));
if (values.hello) {
  for (const peer of peers) {
    const ready = peer.next(values.ready!);
    peer.say(`${values.hello}\n`);
    await ready;
  }
}
console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  const [count = 0, pauseUs = 0] = line.split(" ").map(Number);
  const began = now();
  const samples = await runBlock(count, pauseUs);
  console.log([now() - began, ...samples].map(Math.round).join(" "));
}
process.exit();
