// What a caller is told when the daemon is stopped or gone, the disk full, the input no text, or a name a trap.
import { expect, setDefaultTimeout, test } from "bun:test";
import { commandLine, startCall } from "../../support/command-line.ts";
import { startDaemon } from "../../support/daemon.ts";
import { shellBinary } from "../../support/program.ts";
import { until } from "../../support/wait.ts";

setDefaultTimeout(40_000);

test("a daemon that is stopped is told, and holds nobody who wants to leave", async () => {
  await using daemon = await startDaemon();
  daemon.kill("SIGSTOP");
  try {
    using list = startCall(daemon.socketPath, "ls");
    using run = startCall(daemon.socketPath, "run", "--", "echo never");
    const told = `trl: the daemon on ${daemon.socketPath} does not answer; waiting for it (^C leaves)\n`;
    await until("both to tell", () => list.err() === told && run.err() === told);
    run.kill("SIGINT");
    expect((await run.ended()).code).toBe(130);
    daemon.kill("SIGCONT");
    expect(await list.ended()).toMatchObject({ code: 0 });
  } finally {
    daemon.kill("SIGCONT");
  }
});

test("the loss of the daemon has one exit code, whatever was waited for", async () => {
  await using daemon = await startDaemon();
  const trl = commandLine(daemon.socketPath);
  trl("new", "-d", "desk", "--", "cat");
  const calls = [
    ["run", "--session", "a", "--", "sleep 1000"],
    ["run", "--session", "b", "--json", "--", "sleep 1000"],
    ["screen", "--wait", "never", "desk"],
  ].map((words) => startCall(daemon.socketPath, ...words));
  using stack = new DisposableStack();
  for (const call of calls) stack.use(call);
  using wire = await daemon.connect();
  await until("both commands", async () => (await wire.call("system.stats", {})).running_commands === 2);
  daemon.kill("SIGKILL");
  for (const call of calls) {
    const { code, err } = await call.ended();
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/connection .*lost/) });
  }
});

test("output that cannot be written is a failure", async () => {
  await using daemon = await startDaemon();
  const trl = commandLine(daemon.socketPath);
  trl("run", "--session", "work", "--", "echo text");
  for (const words of ["run -- echo text", "logs work", "stats", "--version", "run --help"]) {
    const full = Bun.spawnSync(["sh", "-c", `exec ${shellBinary} ${words} >/dev/full`], {
      env: { PATH: process.env["PATH"]!, TRL_SOCKET_PATH: daemon.socketPath },
    });
    const { exitCode, stderr } = full;
    expect({ words, exitCode, err: stderr.toString() }).toMatchObject({
      exitCode: 70,
      err: expect.stringContaining("ENOSPC"),
    });
  }
});

test("input that is no text arrives as it is, or is refused", async () => {
  await using daemon = await startDaemon();
  const trl = commandLine(daemon.socketPath);
  const program = "stty raw -echo; echo ready; head -c 4 | od -An -tx1; sleep 1000";
  trl("new", "-d", "hex", "--", "sh", "-c", program);
  trl("screen", "--wait", "ready", "hex");
  const piped = (words: string) =>
    Bun.spawnSync(["sh", "-c", `printf 'a\\377b\\n' | ${shellBinary} ${words}`], {
      env: { PATH: process.env["PATH"]!, TRL_SOCKET_PATH: daemon.socketPath },
    });
  expect(piped("send hex -").exitCode).toBe(0);
  expect(trl("screen", "--wait", "61 ff 62 0d", "--timeout", "20", "hex").code).toBe(0);
  const refused = piped("run --json -i -- cat");
  expect({ code: refused.exitCode, out: refused.stdout.toString() }).toEqual({ code: 64, out: "" });
  expect(JSON.parse(refused.stderr.toString()).error.message).toContain("UTF-8");
});

test("names in messages do not act on the terminal", async () => {
  await using daemon = await startDaemon();
  const trl = commandLine(daemon.socketPath);
  trl("run", "--session", "trap\x1b[2J\x07", "--", "true");
  const { code, err } = trl("kill", "trap\x1b[2J");
  expect({ code, err }).toEqual({
    code: 66,
    err: "trl: there is no session trap [2J\n     is it meant to be trap [2J ?\n",
  });
});
