// On a machine whose kernel offers it, which those that run the tests do.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openSendRing, type SendRing, sendsMax } from "../../../../src/core/process/send-ring-linux.ts";
import { needs } from "../../../support/needs.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { until } from "../../../support/wait.ts";

type Socket = Bun.Socket<undefined> & { fd: number };

/** Pairs of sockets: what is sent to one of `ours` comes to the one of `heard` in the same place. */
async function pairs(count: number) {
  const dir = tempDir();
  const ours: Socket[] = [];
  const heard: string[] = [];
  const theirs: Bun.Socket<undefined>[] = [];
  const listener = Bun.listen({
    unix: join(dir.path, "s"),
    socket: { open: (socket) => void ours.push(socket as Socket), data() {} },
  });
  for (let i = 0; i < count; i++) {
    heard.push("");
    const data = (_: unknown, chunk: Buffer) => {
      heard[i] += chunk.toString();
    };
    theirs.push(await Bun.connect({ unix: join(dir.path, "s"), socket: { data } }));
    await until("it to be accepted", () => ours.length === i + 1);
  }
  return {
    heard,
    theirs,
    fds: ours.map(({ fd }) => fd),
    [Symbol.dispose]() {
      listener.stop(true);
      dir[Symbol.dispose]();
    },
  };
}

const taken = (ring: SendRing, count: number) => [...ring.taken.subarray(0, count)];

needs("linux").describe("a ring of sends", () => {
  test("brings the same to all, more than once around", async () => {
    const ring = openSendRing()!;
    using sockets = await pairs(sendsMax);
    const wanted: string[] = [];
    for (let round = 0; round < 5; round++) {
      const line = `line ${round}\n`;
      ring.send(sockets.fds, 0, sendsMax - round, Buffer.from(line));
      expect(taken(ring, sendsMax - round)).toEqual(Array(sendsMax - round).fill(line.length));
      for (let i = 0; i < sendsMax - round; i++) wanted[i] = (wanted[i] ?? "") + line;
    }
    await until("all to be heard", () => sockets.heard.join("") === wanted.join(""));
    expect(ring.isBroken).toBe(false);
  });

  test("says of each what it took, and does not wait for who takes nothing", async () => {
    const ring = openSendRing()!;
    using sockets = await pairs(3);
    sockets.theirs[1]!.pause();
    const [one, full, three] = sockets.fds as [number, number, number];
    const bytes = Buffer.alloc(100_000, "x");
    let fullTook = 0;
    for (let last = 1; last > 0; fullTook += Math.max(0, last)) {
      ring.send([full], 0, 1, bytes);
      last = ring.taken[0]!;
    }
    ring.send([one, full, -1, three], 0, 4, Buffer.from("short"));
    const [EAGAIN, EBADF] = [11, 9];
    expect(taken(ring, 4)).toEqual([5, -EAGAIN, -EBADF, 5]);
    await until(
      "those who read to hear it",
      () => sockets.heard[0] === "short" && sockets.heard[2] === "short",
    );
    sockets.theirs[1]!.resume();
    await until("the other to hear what it took", () => sockets.heard[1]!.length === fullTook);
    expect(ring.isBroken).toBe(false);
  });

  test("begins with whom it is told to", async () => {
    const ring = openSendRing()!;
    using sockets = await pairs(3);
    ring.send(sockets.fds, 1, 2, Buffer.from("two"));
    await until("them to hear it", () => sockets.heard.join() === ",two,two");
  });

  test("whose peer has gone says so, and raises no signal", async () => {
    const ring = openSendRing()!;
    using sockets = await pairs(1);
    sockets.theirs[0]!.terminate();
    await until("it to be refused", () => {
      ring.send(sockets.fds, 0, 1, Buffer.from("x"));
      return ring.taken[0]! < 0;
    });
  });
});
