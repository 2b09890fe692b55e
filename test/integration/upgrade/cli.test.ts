// CLI commands that are running while the daemon is upgraded.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { startCall } from "../../support/command-line.ts";
import { startHere } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { binary } from "../../support/program.ts";
import { upgrade } from "../../support/upgrade.ts";
import { User } from "../../support/user.ts";
import { until } from "../../support/wait.ts";

test("trl run goes on to its end, with every line and the exit code", async () => {
  await using daemon = await startHere();
  const mark = `${daemon.dir}/mark`;
  const command = `echo before; until [ -e ${mark} ]; do sleep 0.02; done; echo after; echo late >&2; exit 3`;
  using call = startCall(daemon.socketPath, "run", "--", command);
  await until("the first line", () => call.out() === "before\n");
  expect(await upgrade(daemon)).toMatchObject({ ok: true });
  writeFileSync(mark, "");
  expect(await call.ended()).toEqual({ code: 3, out: "before\nafter\n", err: "late\n" });
  using wire = await daemon.connect();
  expect((await wire.call("session.list", {})).sessions).toEqual([]); // its session went with it
});

test("trl run passes input on afterwards as it did before", async () => {
  await using daemon = await startHere();
  const env = { PATH: process.env["PATH"], HOME: daemon.dir, TRL_SOCKET_PATH: daemon.socketPath };
  const child = Bun.spawn([binary, "run", "-i", "--", "while read -r line; do echo got $line; done"], {
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  child.stdin.write("one\n");
  await child.stdin.flush();
  expect((await lines.read()).value).toBe("got one\n");
  expect(await upgrade(daemon)).toMatchObject({ ok: true });
  child.stdin.write("two\n");
  await child.stdin.flush();
  expect((await lines.read()).value).toBe("got two\n");
  child.stdin.end();
  expect(await child.exited).toBe(0);
});

needs("tmux").test("trl attach shows the same terminal, and types into it", async () => {
  await using daemon = await startHere();
  using user = new User(daemon);
  await user.sees("out$");
  user.enter("trl new desk -- env PS1='in> ' bash --norc --noprofile");
  await user.sees(/^in>$/m);
  user.enter("X=41; clear; echo here $((X + 1))");
  await user.sees("here 42");
  expect(await upgrade(daemon)).toMatchObject({ ok: true });
  user.enter("echo still $((X + 2))");
  await user.sees("still 43");
  expect(user.screen()).toContain("here 42");
  user.enter("exit 5");
  await user.sees("[desk ended with exit code 5]");
});
