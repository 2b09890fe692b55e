// Direct exec starts a program as the daemon's own child, and leaves it to a shell while spawns are slow.
import { describe, expect, test } from "bun:test";
import { closeSync } from "node:fs";
import { SharedEnv } from "../../../../src/core/command/runners/shared-env.ts";
import type { ShellSpec } from "../../../../src/core/command/runners/shell-spec.ts";
import { sessionPathsOf } from "../../../../src/core/command/session-paths.ts";
import { bash } from "../../../../src/core/command/shell/bash/bash.ts";
import { ProcessOwnership } from "../../../../src/core/process/ownership.ts";
import { DirectExec, SpawnPace } from "../../../../src/fast/direct-exec/direct-exec.ts";
import { feedOf } from "../../core/command/shell/feed.ts";

const sessionId = "s-0badcafe";

function launcher(pace = new SpawnPace()): DirectExec {
  const ownership = new ProcessOwnership(false);
  ownership.addSession(sessionId);
  const env = { PATH: "/usr/bin:/bin", SHLVL: "0", A: "a b" };
  const spec: ShellSpec = {
    ...{ sessionId, shell: "/bin/bash", dialect: bash, launchEnv: new SharedEnv(env, env) },
    ...{ paths: sessionPathsOf(undefined), sessionIsolation: undefined },
  };
  return new DirectExec(spec, ownership, pace);
}

async function outputOf(command: string): Promise<string | undefined> {
  const launched = launcher().launch(feedOf(command), () => {});
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

describe("while spawns are slow", () => {
  /** Each spawn takes as long as `spawn` says. */
  function slowPace() {
    const clock = { ms: 100 };
    const pace = new SpawnPace(() => clock.ms);
    const spawn = (tookMs: number) =>
      pace.measure(() => {
        clock.ms += tookMs;
        return {};
      });
    const run = (tookMs: number) => {
      spawn(tookMs);
      pace.ended();
    };
    return { clock, pace, spawn, run };
  }

  test("programs are left to a shell for five seconds", () => {
    const { clock, pace, run } = slowPace();
    run(1.6);
    run(1.6);
    expect(pace.isSlow).toBe(true);
    expect(launcher(pace).launch(feedOf("/bin/true"), () => {})).toBeUndefined();
    clock.ms += 4999;
    expect(pace.isSlow).toBe(true);
    clock.ms += 1;
    expect(pace.isSlow).toBe(false);
  });

  test("one slow spawn is no reason", () => {
    const { pace, run } = slowPace();
    for (const tookMs of [9, 0.3, 9, 0.3]) run(tookMs);
    expect(pace.isSlow).toBe(false);
  });

  test("nor is a spawn beside other programs of the daemon", () => {
    const { pace, spawn } = slowPace();
    for (const tookMs of [0.3, 9, 9, 9]) spawn(tookMs);
    expect(pace.isSlow).toBe(false);
  });

  test("a spawn that failed leaves no program running", () => {
    const { pace, run } = slowPace();
    pace.measure(() => undefined);
    run(9);
    run(9);
    expect(pace.isSlow).toBe(true);
  });
});
