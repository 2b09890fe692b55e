import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { ConnectionError, carrierTo, connect, type Target } from "trl/client";
import { binary, type Case, failure, leaver, soon, token, until } from "../world.ts";

async function works(target: Target, options = {}): Promise<void> {
  await using trl = await connect(target, options);
  assert.equal(typeof (await trl.call("system.ping")).uptime_s, "number");
}

export const connecting: Case[] = [
  {
    name: "connect: by a path, unix: and { socket }",
    on: ["socket"],
    async run({ shared: { socket } }) {
      await works(socket);
      await works(`unix:${socket}`);
      await works(`unix://${socket}`);
      await works({ socket });
    },
  },
  {
    name: "connect: without a target, to the socket that the environment names",
    on: ["socket"],
    async run({ shared: { socket } }) {
      process.env["TRL_SOCKET_PATH"] = socket;
      await using trl = await connect();
      delete process.env["TRL_SOCKET_PATH"];
      await trl.call("system.ping");
    },
  },
  {
    name: "connect: by an address with a token, here or there",
    on: ["http"],
    async run({ shared: { url } }) {
      await works(url, { token });
      await works({ url, token });
      await works({ url: `${url}/`, token });
      await works(url.replace("http", "ws"), { token });
      await works(url.replace("http", "HTTP"), { token });
      await works(url.replace("http", "WS"), { token });
    },
  },
  {
    name: "connect: by a ticket that somebody else asks for",
    on: ["http"],
    async run({ shared: { url } }) {
      let tickets = 0;
      const ticket = async () => {
        tickets++;
        const answer = await fetch(`${url}/ticket`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}` },
        });
        return ((await answer.json()) as { ticket: string }).ticket;
      };
      await works({ url, ticket });
      assert.equal(tickets, 1);
      const error = await failure("a wrong ticket", connect({ url, ticket: () => "wrong" }));
      assert.ok(error instanceof ConnectionError);
    },
  },
  {
    name: "connect: to a command, with its environment and directory",
    on: ["stdio"],
    async run({ dir }) {
      await works({ command: [binary, "--stdin", "--allow-root"] });
      await using trl = await connect({
        command: [binary, "--stdin", "--allow-root"],
        cwd: dir,
        env: { PATH: process.env["PATH"], MARK: "of the test" },
      });
      await using session = await trl.session();
      assert.equal((await session.run('printf "$MARK"')).stdout, "of the test");
    },
  },
  {
    name: "connect: over a carrier of one's own",
    async run(world) {
      const open = carrierTo(world.target(world.shared));
      let sent = 0;
      await works({
        open: async (events) => {
          const carrier = await open(events);
          return {
            send(frame) {
              sent++;
              carrier.send(frame);
            },
            close: () => carrier.close(),
          };
        },
      });
      assert.ok(sent > 0);
    },
  },
  {
    name: "connect: a wrong token is refused as such, and so is none",
    on: ["http"],
    async run({ shared: { url } }) {
      await failure("a wrong token", connect({ url, token: "wrong" }), "AUTH_FAILED");
      await failure("no token", connect({ url }), "AUTH_FAILED");
    },
  },
  {
    name: "connect: nobody there is told at once",
    async run(world) {
      const nowhere: Record<string, Target> = {
        socket: world.path("nobody.sock"),
        http: { url: "http://127.0.0.1:1", token },
        stdio: { command: [world.path("no-such-program")] },
      };
      const started = performance.now();
      const error = await failure(
        "nobody there",
        connect(nowhere[world.transport]!, { patienceS: 60 }),
        "RUNTIME_UNAVAILABLE",
      );
      assert.ok(error instanceof ConnectionError);
      assert.equal(error.mayHaveRun, false);
      assert.ok(performance.now() - started < 10_000);
    },
  },
  {
    name: "connect: a command that ends at once is told with its last words",
    on: ["stdio"],
    async run() {
      const error = await failure(
        "a command that fails",
        (async () => {
          await using trl = await connect({ command: ["/bin/sh", "-c", "echo what a pity >&2; exit 3"] });
          await trl.call("system.ping");
        })(),
        "RUNTIME_UNAVAILABLE",
      );
      assert.match(error.message, /exit code 3: what a pity/);
    },
  },
  {
    name: "connect: somebody who does not speak the protocol is an error, and no crash",
    on: ["stdio"],
    async run() {
      for (const babble of ["echo Welcome to the machine; cat >/dev/null", "echo null; cat >/dev/null"]) {
        const call = async () => {
          await using trl = await connect({ command: ["/bin/sh", "-c", babble] }, { patienceS: 0 });
          await trl.call("system.ping");
        };
        const error = await failure("babble", call(), "RUNTIME_UNAVAILABLE");
        assert.match(error.message, /protocol/);
      }
    },
  },
  {
    name: "connect: a carrier that is closed while it opens is no crash, and the next one is tried",
    async run(world) {
      const open = carrierTo(world.target(world.shared));
      let attempts = 0;
      await failure(
        "closed at once",
        connect({
          open: (events) => {
            events.closed(new Error("not today"));
            return { send() {}, close() {} };
          },
        }),
        "RUNTIME_UNAVAILABLE",
      );
      const trl = world.keep(
        await connect({
          open: (events) => {
            attempts++;
            if (attempts !== 2) return attempts === 1 ? fleeting(events) : open(events);
            events.closed(new Error("not today"));
            return { send() {}, close() {} };
          },
        }),
      );
      await until("the first to be lost", () => attempts >= 2);
      await soon("a call", trl.call("system.ping"));
      assert.equal(attempts, 3);
    },
  },
  {
    name: "close: what waits is rejected, the rest as well, and twice is once",
    async run(world) {
      const trl = await world.connect();
      const session = await trl.session();
      const states: string[] = [];
      trl.onState((state) => states.push(state));
      const run = failure("a run", session.run("sleep 30"), "RUNTIME_UNAVAILABLE");
      const stream = session.stream("sleep 30");
      const read = failure("a stream", all(stream));
      await Promise.all([trl.close(), trl.close(), run, read]);
      await failure("a call", trl.call("system.ping"), "RUNTIME_UNAVAILABLE");
      await failure("started", session.stream("true").started, "RUNTIME_UNAVAILABLE");
      assert.deepEqual(states, ["closed"]);
    },
  },
  {
    name: "close: nothing keeps the program from ending, whatever was left lying about",
    async run(world) {
      const child = spawn(process.execPath, [leaver, JSON.stringify(world.target(world.shared))], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      let said = "";
      child.stdout.on("data", (chunk: Buffer) => {
        said += chunk.toString();
      });
      const exitCode = await soon("its end", new Promise((resolve) => child.once("close", resolve)), 30_000);
      assert.equal(exitCode, 0);
      assert.match(said, /^\d+\n$/);
      assert.ok(Number(said) < 4000, `it took ${said} ms`); // the shortest timer that could be left has 5 s
    },
  },
  {
    name: "connect: a carrier that cannot send any more is given up, and another is opened",
    async run(world) {
      const open = carrierTo(world.target(world.shared));
      let [opened, isBroken] = [0, false];
      const trl = world.keep(
        await connect({
          open: async (events) => {
            if (world.transport === "stdio" && ++opened > 1) return fleeting(events); // there is one child
            const carrier = await open(events);
            return {
              send(frame) {
                if (isBroken) throw new Error("broken");
                carrier.send(frame);
              },
              close() {
                isBroken = false;
                return carrier.close();
              },
            };
          },
        }),
      );
      isBroken = true;
      await soon("a call", trl.call("system.ping"));
      assert.equal(isBroken, false);
    },
  },
  {
    name: "close: ends what the client started",
    on: ["stdio"],
    async run(world) {
      const trl = await world.connect();
      const pid = world.childPid();
      await trl.close();
      assert.throws(() => process.kill(pid, 0));
    },
  },
];

async function all(chunks: AsyncIterable<unknown>): Promise<unknown[]> {
  const gathered = [];
  for await (const chunk of chunks) gathered.push(chunk);
  return gathered;
}

/** Answers the first question, and is gone. */
function fleeting(events: Parameters<ReturnType<typeof carrierTo>>[0]) {
  let isGone = false;
  const leave = () => {
    if (!isGone) events.closed(new Error("gone"));
    isGone = true;
  };
  setTimeout(leave, 50);
  return {
    send(frame: string) {
      const { id } = JSON.parse(frame) as { id: string };
      queueMicrotask(() =>
        events.message(JSON.stringify({ id, ok: true, data: { uptime_s: 1, version: "0" } })),
      );
    },
    close() {},
  };
}
