// TRL_FAST switches accelerators of src/fast off one by one. Each test shows by a fact of the system that one is off.
import { describe, expect, test } from "bun:test";
import { readdirSync, readlinkSync } from "node:fs";
import { startHere, type TestDaemon } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { listProcesses } from "../../support/processes.ts";
import { binary } from "../../support/program.ts";
import { newSession, type TestSession } from "../../support/session.ts";
import { until } from "../../support/wait.ts";

async function withSession<T>(
  fast: string,
  use: (session: TestSession, daemon: TestDaemon) => Promise<T>,
): Promise<T> {
  await using daemon = await startHere({ env: { TRL_FAST: fast } });
  using wire = await daemon.connect();
  return await use(await newSession(wire, { shell: "/bin/bash" }), daemon);
}

const childrenOf = ({ pid }: TestDaemon) => listProcesses().filter(({ ppid }) => ppid === pid);

test("a name that is unknown is refused at the start, with all names", async () => {
  const child = Bun.spawn([binary, "serve", "--stdin"], {
    env: { ...process.env, TRL_FAST: "-nonsense" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const error = await new Response(child.stderr).text();
  expect(await child.exited).toBe(64);
  expect(error).toContain("TRL_FAST is all, none, or a list of -warm-shells, ");
  expect(error).toContain('-direct-read, not "-nonsense"');
});

test("commands do not inherit TRL_FAST", async () => {
  await withSession("-simd", async ({ out }) =>
    expect(await out("env | grep -c TRL_FAST || true")).toBe("0"),
  );
});

describe("without warm-shells", () => {
  test("no shell waits in a session", async () => {
    await withSession("-warm-shells", async ({ out }, daemon) => {
      expect(childrenOf(daemon)).toEqual([]);
      expect(await out("x=1; echo $x | cat")).toBe("1");
      await until("the end of the shell", () => childrenOf(daemon).length === 0);
      expect(await out("echo $x")).toBe("1");
    });
  });

  test("and with it one does", async () => {
    await withSession("all", async (_, daemon) => {
      await until("a warm shell", () => childrenOf(daemon).length === 1);
    });
  });
});

needs("linux").describe("in-place:", () => {
  const pidTwice = ({ out }: TestSession) =>
    out("echo $BASHPID").then(async (pid) => [pid, await out("echo $BASHPID")]);

  test("without it every builtin has a shell of its own", async () => {
    const [first, second] = await withSession("-in-place", pidTwice);
    expect(first).not.toBe(second);
  });

  test("with it one shell runs both", async () => {
    const [first, second] = await withSession("all", pidTwice);
    expect(first).toBe(second);
  });
});

describe("the parent of a program is", () => {
  const isDaemon = (fast: string) =>
    withSession(fast, async ({ out }, { pid }) => (await out("sh -c 'echo $PPID'")) === `${pid}`);

  test("the daemon with direct-exec", async () => expect(await isDaemon("-short-reports")).toBe(true));
  test("the daemon with short-reports, as the shell execs it", async () =>
    expect(await isDaemon("-direct-exec")).toBe(true));
  test("a shell without both", async () => expect(await isDaemon("-direct-exec,-short-reports")).toBe(false));
});

needs("linux").test("without direct-read the daemon has no epoll set of its own", async () => {
  const sets = (fast: string) =>
    withSession(fast, async (_, { pid }) => {
      const links = readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`));
      return links.filter((link) => link.includes("eventpoll")).length;
    });
  expect(await sets("-direct-read")).toBe((await sets("all")) - 1);
});

/** Descriptors come and go. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
