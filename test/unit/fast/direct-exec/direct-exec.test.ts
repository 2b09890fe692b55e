// Direct exec starts a program as the daemon's own child, and leaves it to a shell while spawns are slow.
import { describe, expect, test } from "bun:test";
import { closeSync } from "node:fs";
import { SharedEnv } from "../../../../src/core/command/runners/shared-env.ts";
import type { ShellSpec } from "../../../../src/core/command/runners/shell-spec.ts";
import { sessionPathsOf } from "../../../../src/core/command/session-paths.ts";
import { bash } from "../../../../src/core/command/shell/bash/bash.ts";
import { ProcessOwnership } from "../../../../src/core/process/ownership.ts";
import { DirectExec, SpawnPace } from "../../../../src/fast/direct-exec/direct-exec.ts";
import { emptyState, feedOf } from "../../core/command/shell/feed.ts";

const sessionId = "s-0badcafe";

const exportedValues = [
  "plain",
  "two words",
  "",
  "it's",
  'a "quoted" $x `y` \\z!',
  "new\nline",
  "tab\t",
  "\x1b[1m",
  "äöü",
  "a=b",
  "~",
  "*",
  "-n",
];

function launcher(pace = new SpawnPace(), isExecedByShell = () => true): DirectExec {
  const ownership = new ProcessOwnership(false);
  ownership.addSession(sessionId);
  const env = { PATH: "/usr/bin:/bin", SHLVL: "0", A: "a b" };
  const spec: ShellSpec = {
    ...{ sessionId, shell: "/bin/bash", dialect: bash, launchEnv: new SharedEnv(env, env) },
    ...{ paths: sessionPathsOf(undefined), sessionIsolation: undefined },
  };
  return new DirectExec(spec, ownership, { pace, isExecedByShell });
}

async function outputOf(command: string, script = ""): Promise<string | undefined> {
  const feed = feedOf(command, { state: { ...emptyState, script } });
  const launched = launcher().launch(feed, () => {});
  if (!launched) return undefined;
  const { stdoutFd, stderrFd } = launched.process.output;
  const text = Bun.file(stdoutFd).text();
  await launched.process.exited;
  closeSync(stderrFd);
  return await text;
}

test("the program is a child of this process, with the words and the environment of the session", async () => {
  const command = `sh -c 'echo $PPID; echo "$0 $A $SHLVL $PWD"' 'c d'`;
  expect(await outputOf(command)).toBe(`${process.pid}\nc d a b 1 /tmp\n`);
});

test("what needs a shell is left to it", async () => {
  expect(await outputOf("cd /")).toBeUndefined();
  expect(await outputOf("no-such-program")).toBeUndefined();
});

describe("what the session has exported reaches the program:", () => {
  /** As bash prints it in a state report. */
  const declared = (value: string) =>
    Bun.spawnSync(["/bin/bash", "-c", "export A=$1; declare -p A", "bash", value]).stdout.toString("latin1");

  for (const value of exportedValues)
    test(JSON.stringify(value), async () =>
      expect(await outputOf("printenv A", declared(value))).toBe(`${value}\n`),
    );
});

describe("while spawns are slow", () => {
  function slowPace() {
    const clock = { ms: 100 };
    const pace = new SpawnPace(() => clock.ms);
    /** Starts a program; its start takes as long as that. */
    const spawn = (tookMs: number) => {
      const { promise: exited, resolve } = Promise.withResolvers<{ exitCode: number; signal: null }>();
      pace.measure(() => {
        clock.ms += tookMs;
        return { exited };
      });
      return async () => {
        resolve({ exitCode: 0, signal: null });
        await exited;
      };
    };
    const run = async (...tookMs: number[]) => {
      for (const each of tookMs) await spawn(each)();
    };
    return { clock, pace, spawn, run };
  }

  test("programs that a shell would exec are left to it for five seconds", async () => {
    const { clock, pace, run } = slowPace();
    await run(1.6, 1.6);
    expect(pace.isSlow).toBe(true);
    const start = (byShell: boolean) => launcher(pace, () => byShell).launch(feedOf("/bin/true"), () => {});
    expect(start(true)).toBeUndefined();
    expect(start(false)).toBeDefined();
    clock.ms = 100 + 3.2 + 4999;
    expect(pace.isSlow).toBe(true);
    clock.ms += 1;
    expect(pace.isSlow).toBe(false);
    await run(9);
    expect(pace.isSlow).toBe(false); // two in a row, again
  });

  test("one slow spawn is no reason", async () => {
    const { pace, run } = slowPace();
    await run(9, 0.3, 9, 0.3);
    expect(pace.isSlow).toBe(false);
  });

  test("nor is a spawn beside a program that was started just before", () => {
    const { pace, spawn } = slowPace();
    for (const tookMs of [0.3, 9, 9, 9]) spawn(tookMs);
    expect(pace.isSlow).toBe(false);
  });

  test("a program that runs on does not count", async () => {
    const { clock, pace, spawn, run } = slowPace();
    spawn(0.3);
    clock.ms += 60;
    await run(9, 9);
    expect(pace.isSlow).toBe(true);
  });

  test("a spawn that failed says nothing", async () => {
    const { pace, run } = slowPace();
    await run(9);
    pace.measure(() => undefined);
    await run(9);
    expect(pace.isSlow).toBe(true);
  });
});
