// `--json` is for programs: one object on stdout, and one on stderr where something went wrong.
import { expect, test } from "bun:test";
import { startDaemon } from "../../support/daemon.ts";
import { trl } from "../../support/trl.ts";

test("verbs that print something print JSON when asked", async () => {
  await using daemon = await startDaemon();
  const ask = (verb: string, ...words: string[]) =>
    trl([verb, "--socket-path", daemon.socketPath, "--json", ...words]);
  const read = (...words: [string, ...string[]]) => JSON.parse(ask(...words).out);
  expect(read("ping")).toMatchObject({ socket: daemon.socketPath, uptime_s: expect.any(Number) });
  expect(read("stats")).toMatchObject({ pid: daemon.pid });
  expect(read("new", "-d", "desk", "--", "cat")).toMatchObject({ session_id: "desk", command: "cat" });
  expect(read("ls").sessions).toMatchObject([{ session_id: "desk", kind: "pty" }]);

  const killed = ask("kill", "desk", "nobody");
  expect(JSON.parse(killed.out)).toEqual({ ended: [{ session_id: "desk", name: "desk", kind: "pty" }] });
  expect(JSON.parse(killed.err)).toMatchObject({ error: { code: "SESSION_NOT_FOUND" } });
  expect(killed.code).toBe(66);
});

test("no character of a name acts on the terminal, and every name comes through", async () => {
  await using daemon = await startDaemon();
  using wire = await daemon.connect();
  const name = "a\u0085b\u009b31m\u007f\u202egnp.exe\u2066\u2028\u200f\u{e0041}é漢👩\u200d💻";
  const { session_id } = await wire.call("session.create", { name });
  const ask = (...words: string[]) => trl([...words, "--socket-path", daemon.socketPath, "--json"]);
  const acting = /[^\P{Cc}\n]|(?!\u200d)[\p{Cf}\p{Zl}\p{Zp}]/u;
  await wire.call("exec.run", { session_id, command: "true" });
  const [ls, ps] = [ask("ls"), ask("ps", "--all")];
  expect(JSON.parse(ls.out).sessions).toMatchObject([{ name }]);
  expect(ps.out).toContain("漢");
  for (const { out } of [ls, ps]) expect(out).not.toMatch(acting);
  const print = trl([
    ...["run", "--socket-path", daemon.socketPath, "--json", "--session", session_id, "--"],
    ...["printf", "\\302\\233\\342\\200\\256"],
  ]);
  expect(JSON.parse(print.out).stdout).toBe("\u009b\u202e");
  expect(print.out).not.toMatch(acting);
  // A message quotes what was asked for.
  for (const words of [
    ["kill", name],
    ["kill", name, "--json"],
  ]) {
    const { err } = trl([...words, "--socket-path", daemon.socketPath, `x${name}`]);
    expect(err).toContain("漢");
    expect(err).not.toMatch(acting);
  }
});

test("an error is one line of JSON on stderr, with the same exit code", async () => {
  await using daemon = await startDaemon();
  const fail = (words: string[]) => {
    const plain = trl(words.filter((word) => word !== "--json"));
    const asked = trl(words);
    expect(asked).toMatchObject({ code: plain.code, out: "" });
    expect(plain.err).toStartWith("trl: ");
    expect(asked.err).toEndWith("}\n");
    return { code: asked.code, ...JSON.parse(asked.err).error };
  };
  const socket = ["--socket-path", daemon.socketPath];
  const none = ["--socket-path", "/tmp/no-such.sock"];
  expect(fail(["ping", "--json", ...none])).toEqual({
    code: "RUNTIME_UNAVAILABLE",
    message: "no daemon is listening on /tmp/no-such.sock",
    hint: "start one with: trl serve",
  });
  expect(fail(["attach", "--json", "desk", ...socket])).toMatchObject({ code: "INVALID_PARAMS" });
  expect(fail(["pign", "--json"])).toMatchObject({ code: "INVALID_PARAMS", hint: expect.any(String) });
  const badShell = trl(["new", "-d", "--json", ...socket, "--", "/no/such/program"]);
  expect(badShell).toMatchObject({ code: 126 });
  expect(JSON.parse(badShell.err).error).toMatchObject({ code: "SPAWN_FAILED" });
});

test("--json behind -- belongs to the command", async () => {
  await using daemon = await startDaemon();
  const { out } = trl(["run", "--socket-path", daemon.socketPath, "--", "echo", "--json"]);
  expect(out).toBe("--json\n");
  const words = ["run", "--timeout", "0.1", "--socket-path", daemon.socketPath];
  expect(trl([...words, "--", "sh", "-c", "sleep 9", "--json"]).err).toStartWith("trl: ");
});
