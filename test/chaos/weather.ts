// What befalls the daemon and its clients from outside, whatever they are doing.
import { openUnix } from "../support/carriers/unix.ts";
import { RawClient } from "../support/http.ts";
import { type Step, step, type World } from "./world.ts";

export class Weather {
  constructor(
    readonly world: World,
    readonly clients: readonly { kill(): void; stall(ms: number): Promise<void> }[],
  ) {}
}

const stopAndContinue = step({
  name: "weather: stop",
  weight: 2,
  draw: (random) => random.pick([5, 40, 250]),
  async act({ world }: Weather, ms) {
    world.books.fault("daemon stopped");
    world.daemon.kill("SIGSTOP");
    try {
      await Bun.sleep(ms);
    } finally {
      world.daemon.kill("SIGCONT");
    }
  },
});

const kill = step({
  name: "weather: kill",
  weight: 4,
  draw: (random) => random.next(),
  async act({ world, clients }: Weather, part) {
    world.books.fault("client killed");
    clients[Math.floor(part * clients.length)]!.kill();
  },
});

const stall = step({
  name: "weather: stall",
  weight: 3,
  draw: (random) => ({ part: random.next(), ms: random.pick([10, 100, 700]) }),
  async act({ world, clients }: Weather, { part, ms }) {
    world.books.fault("stall");
    await clients[Math.floor(part * clients.length)]!.stall(ms);
  },
});

/** They come in numbers, say something or nothing, and are gone. */
const visitors = step({
  name: "weather: visitors",
  weight: 2,
  draw: (random) => ({
    count: random.between(1, 40),
    words: Buffer.from(random.bytes(random.pick([0, 3, 900]))),
  }),
  async act({ world }: Weather, { count, words }) {
    world.books.fault("visitors");
    const { socketPath, port } = world.daemon;
    const open = async (i: number) => {
      if (i % 2 === 0) {
        const carrier = await openUnix(socketPath, { line() {}, closed() {} });
        carrier.send(words);
        return () => carrier.terminate();
      }
      const client = await RawClient.connect(port);
      client.send(words);
      return () => client[Symbol.dispose]();
    };
    const listeners = await Promise.allSettled(Array.from({ length: count }, (_, i) => open(i)));
    for (const listener of listeners) if (listener.status === "fulfilled") listener.value();
  },
});

const calm = step({
  name: "weather: calm",
  weight: 6,
  draw: (random) => random.pick([20, 60, 200]),
  act: (_: Weather, ms) => Bun.sleep(ms),
});

export const weatherSteps: Step<unknown, Weather>[] = [stopAndContinue, kill, stall, visitors, calm];
