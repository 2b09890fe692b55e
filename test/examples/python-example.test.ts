// The Python example against the real executable. That it prints what its README says is tested with the other pages.
import { expect, setDefaultTimeout } from "bun:test";
import { join } from "node:path";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import { needs } from "../support/needs.ts";
import { until } from "../support/wait.ts";

// Each waits for what it wants to see; this is for a machine that is busy.
setDefaultTimeout(60_000);

/** Each has a daemon of its own, and mostly waits. */
const test = needs("python3").test.concurrent;

const example = join(import.meta.dir, "../../examples/python");
const env = {
  ...process.env,
  TMPDIR: process.env["HOME"]!,
  PYTHONPATH: example,
  PYTHONDONTWRITEBYTECODE: "1",
};

function startAgent(socketPath: string) {
  const words = ["python3", "-u", join(example, "agent.py"), socketPath];
  return Bun.spawn(words, { env, stdio: ["ignore", "pipe", "pipe"] });
}

async function python(daemon: TestDaemon, code: string): Promise<string> {
  const child = Bun.spawn(["python3", "-c", `import trl_client, sys, threading\n${code}`], {
    env: { ...env, TRL_SOCKET_PATH: daemon.socketPath },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect(err).toBe("");
  return out;
}

test("the agent leaves nothing behind, and lets be what is not its own", async () => {
  await using daemon = await startDaemon();
  using wire = await daemon.connect();
  const mine = await wire.call("session.create", { name: "mine" });
  await wire.call("session.create", { name: "agent-of-yesterday" });
  const agent = startAgent(daemon.socketPath);
  const out = await agent.stdout.text();
  expect(await agent.stderr.text()).toBe("");
  expect(await agent.exited).toBe(0);
  expect(out).toContain("ending agent-of-yesterday of an earlier agent");
  expect(out).toEndWith("left behind: 0 sessions\n");
  const { sessions } = await wire.call("session.list", {});
  expect(sessions.map(({ session_id }) => session_id)).toEqual([mine.session_id]);
  const { streams } = await wire.call("exec.list", {});
  expect(streams.filter(({ state }) => state === "running")).toEqual([]);
  expect(await wire.call("system.stats", {})).toMatchObject({ pty_sessions: 0, leftover_processes: 0 });
});

test("an agent that was killed is tidied up after by the next one", async () => {
  await using daemon = await startDaemon();
  using wire = await daemon.connect();
  const first = startAgent(daemon.socketPath);
  await until("its session", async () => (await wire.call("session.list", {})).sessions.length > 0);
  first.kill("SIGKILL");
  await first.exited;
  const second = startAgent(daemon.socketPath);
  expect(await second.stdout.text()).toContain("of an earlier agent");
  expect(await second.exited).toBe(0);
  expect((await wire.call("session.list", {})).sessions).toEqual([]);
});

test("without a daemon the agent says what to do", async () => {
  const agent = startAgent("/nonexistent/trl.sock");
  expect(await agent.stderr.text()).toContain("start one with: trl serve");
  expect(await agent.exited).toBe(69);
});

test("the client: who leaves a stream early stops its command", async () => {
  await using daemon = await startDaemon();
  const out = await python(
    daemon,
    `
with trl_client.connect() as trl, trl.session() as session:
    for frame in session.stream("echo first; sleep 1000"):
        print(frame["data"], end="")
        break
    print(session.run("echo idle again").stdout, end="")
    try:
        with trl.session(name="fails"):
            raise KeyError("within")
    except KeyError:
        print(len(trl.call("session.list")["sessions"]))
`,
  );
  expect(out).toBe("first\nidle again\n1\n");
});

test("the client: threads share a connection, and its loss is told to all of them", async () => {
  await using daemon = await startDaemon();
  const out = await python(
    daemon,
    `
trl = trl_client.connect()
sessions = [trl.session() for _ in range(4)]
runs = [threading.Thread(target=lambda s=s, i=i: sys.stdout.write(s.run(f"echo {i}").stdout)) for i, s in enumerate(sessions)]
for each in runs: each.start()
for each in runs: each.join()
print()

def waits(action):
    try:
        action()
    except ConnectionError as error:
        sys.stdout.write(f"{type(error).__name__}\\n")  # at once: others write, too
blocked = [threading.Thread(target=waits, args=[action]) for action in (
    lambda: sessions[0].run("sleep 1000"),
    lambda: list(sessions[1].stream("echo up; sleep 1000")),
)]
for each in blocked: each.start()
import time
while len([c for c in trl.call("exec.list")["streams"] if c["state"] == "running"]) < 2: time.sleep(0.01)
trl.close()
for each in blocked: each.join()
waits(lambda: trl.call("system.ping"))
`,
  );
  const [ran, lost] = out.split("\n\n");
  expect(ran!.split("\n").sort()).toEqual(["0", "1", "2", "3"]);
  expect(lost).toBe("ConnectionError\nConnectionError\nConnectionError\n");
});
