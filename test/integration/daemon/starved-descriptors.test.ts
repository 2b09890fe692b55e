// No file descriptors left: refused early, nobody harmed, no processor kept busy, and all as before afterwards.
import { expect } from "bun:test";
import { startHere } from "../../support/daemon.ts";
import { RawClient, startHttp } from "../../support/http.ts";
import { needs } from "../../support/needs.ts";
import { binary } from "../../support/program.ts";
import { newSession } from "../../support/session.ts";
import { cpuShare, descriptorsOf, idleShareMax } from "../../support/starved.ts";
import { until } from "../../support/wait.ts";
import type { Frame, Wire } from "../../support/wire.ts";

const limit = 192;
const starved = { program: ["prlimit", `--nofile=${limit}:${limit}`, binary] };

/** As many as there are until one is refused; gives the code of that refusal. */
async function untilRefused(attempt: () => Promise<Frame>): Promise<string> {
  for (let count = 0; count < limit; count++) {
    const reply = await attempt();
    if (!reply["ok"]) return reply["error"].code;
  }
  throw new Error("was never refused");
}

needs("linux").test("sessions first, then commands and terminals; who is there goes on", async () => {
  await using daemon = await startHere(starved);
  using wire = await daemon.connect();
  const first = await newSession(wire);
  const { stream_id } = await wire.call("exec.stream", {
    session_id: first.id,
    command: "read line; echo $line",
    open_stdin: true,
  });
  const before = descriptorsOf(daemon.pid);
  const made: string[] = [];
  const create = async () => {
    const reply = await wire.request("session.create", {});
    if (reply["ok"]) made.push(reply["data"].session_id);
    return reply;
  };
  // A session that rests takes no descriptors but those of a warm shell, for which there is a bound.
  for (let count = 0; count < 50; count++) expect((await create())["ok"]).toBe(true);
  let next = 0;
  const stream = () =>
    wire.request("exec.stream", { session_id: made[next++], command: "sleep 1000", open_stdin: true });
  expect(await untilRefused(stream)).toBe("RESOURCE_PRESSURE");
  expect((await create())["error"].code).toBe("RESOURCE_PRESSURE");
  const clients: Wire[] = [];
  let refused = 0;
  for (let count = 0; count < limit; count++) {
    const client = await daemon.connect().catch(() => undefined);
    if (client) clients.push(client);
    else refused++;
  }
  await until("some to be let go", () => refused > 0 || clients.some(({ isClosed }) => isClosed));
  expect(descriptorsOf(daemon.pid)).toBeLessThan(limit);
  expect(await cpuShare(daemon.pid)).toBeLessThan(idleShareMax);
  expect((await wire.fail("pty.create", { command: "true" })).code).toBe("RESOURCE_PRESSURE");
  expect((await wire.call("system.stats", {})).open_fds).toBeGreaterThan(limit / 2);
  await wire.call("exec.write", { stream_id, data: "still here\n" });
  const printed = await wire.frame((frame) => frame["stream_id"] === stream_id && frame["type"] === "stdout");
  expect(printed["data"]).toBe("still here\n");

  for (const client of clients) client[Symbol.dispose]();
  await Promise.all(made.map((session_id) => wire.call("session.destroy", { session_id, force: true })));
  await until("all to be given back", () => descriptorsOf(daemon.pid) <= before + 2);
  expect(await first.out("echo back")).toBe("back");
  await newSession(wire);
  expect(daemon.log()).not.toContain("internal error");
});

needs("linux").test(
  "a flood of connections by HTTP that say nothing: the door closes until they have gone",
  async () => {
    await using daemon = await startHttp(starved);
    using wire = await daemon.connect();
    const session = await newSession(wire);
    const clients: RawClient[] = [];
    const flood = async () => {
      for (let count = 0; count < limit * 2; count++) {
        const client = await RawClient.connect(daemon.port);
        clients.push(client);
        client.send("GET / HT");
      }
    };
    await flood().catch(() => {}); // refused, in the end
    await until("HTTP connections to wait", () => daemon.log().includes("not accepting HTTP connections"));
    expect(await cpuShare(daemon.pid)).toBeLessThan(idleShareMax);
    expect((await wire.fail("exec.run", { session_id: session.id, command: "true" })).code).toBe(
      "RESOURCE_PRESSURE",
    );
    expect((await wire.call("system.ping", {})).uptime_s).toBeGreaterThanOrEqual(0);
    for (const client of clients) client[Symbol.dispose]();
    await until("HTTP connections to be accepted", () =>
      daemon.log().includes("accepting HTTP connections again"),
    );
    expect((await daemon.get("/healthz")).status).toBe(200);
    expect(await session.out("echo back")).toBe("back");
    expect(daemon.log()).not.toContain("internal error");
  },
);

needs("linux").test(
  "a port that takes no more connections by HTTP stays the daemon's, and who comes waits",
  async () => {
    await using daemon = await startHttp(starved);
    const clients: RawClient[] = [];
    const isFull = () => daemon.log().includes("not accepting HTTP connections");
    while (clients.length < limit * 2 && !isFull()) clients.push(await RawClient.connect(daemon.port));
    await until("HTTP connections to wait", isFull);
    const socket = { data() {} };
    expect(() => Bun.listen({ hostname: "127.0.0.1", port: daemon.port, socket })).toThrow();
    using waiting = await RawClient.connect(daemon.port);
    waiting.send("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    for (const client of clients) client[Symbol.dispose]();
    expect(await waiting.status()).toBe(200);
  },
);
