// trl send, screen and cancel: a shell script that drives programs and commands.
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { commandLine, startCall } from "../../support/command-line.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { until } from "../../support/wait.ts";

setDefaultTimeout(40_000);

const shell = ["env", "PS1=in> ", "HISTFILE=", "bash", "--norc", "--noprofile"];

/** A shell on the terminal `work`, ready for input. */
function atWork(daemon: TestDaemon) {
  const trl = commandLine(daemon.socketPath);
  expect(trl("new", "-d", "work", "--", ...shell).code).toBe(0);
  expect(trl("screen", "--wait", "in>", "work").code).toBe(0);
  return trl;
}

/** A program that shows each byte of its input, in hex, until q. */
const hexShower = "stty raw -echo; echo ready; while c=$(head -c 1 | od -An -tx1); do echo $c; done";

describe("trl send and screen", () => {
  test("drive a shell", async () => {
    await using daemon = await startDaemon();
    const trl = atWork(daemon);
    expect(trl("send", "work", "--enter", "x=41;", "echo", "=$((x", "+", "1))=")).toEqual({
      code: 0,
      out: "",
      err: "",
    });
    const seen = trl("screen", "--wait", "=42=", "--timeout", "20", "work");
    expect(seen).toMatchObject({ code: 0, err: "" });
    expect(seen.out).toStartWith("in> x=41; echo =$((x + 1))=\n=42=\n");
  });

  test("send text and keys in their order, and what comes on standard input", async () => {
    await using daemon = await startDaemon();
    const trl = commandLine(daemon.socketPath, { stdin: "one\ntwo" });
    trl("new", "-d", "hex", "--", "bash", "-c", hexShower);
    trl("screen", "--wait", "ready", "hex");
    const sent = trl("send", "--json", "hex", "a b", "--key", "Escape", "-k", "Up", "-", "--", "-é");
    expect(JSON.parse(sent.out)).toEqual({ id: "hex", bytes: 17 });
    expect(trl("screen", "--regex", "a9\\s*$", "hex").code).toBe(0);
    const { lines } = JSON.parse(trl("screen", "--json", "--scrollback", "100", "hex").out);
    const shown = lines.map((line: string) => line.trim()).filter((line: string) => /^..$/.test(line));
    const wanted = Buffer.from("a b\x1b\x1b[Aone\rtwo-é").toHex();
    expect(shown.join("")).toBe(wanted);
  });

  test("send cursor keys as the program has asked for them", async () => {
    await using daemon = await startDaemon();
    const trl = commandLine(daemon.socketPath);
    trl("new", "-d", "hex", "--", "bash", "-c", `printf '\\033[?1h'; ${hexShower}`);
    trl("screen", "--wait", "ready", "hex");
    trl("send", "hex", "--key", "Up");
    expect(trl("screen", "--regex", "1b\\s+4f\\s+41\\s*$", "--timeout", "20", "hex").code).toBe(0);
  });

  test("what comes after ^C is typed when that has had its effect", async () => {
    await using daemon = await startDaemon();
    const trl = atWork(daemon);
    trl("send", "work", "--enter", "echo begun; sleep 1000");
    trl("screen", "--regex", "^begun", "work");
    trl("send", "work", "--key", "C-c", "--enter", "echo =$((40 + 2))=");
    expect(trl("screen", "--wait", "=42=", "--timeout", "20", "work").code).toBe(0);
  });

  test("end an input, of a terminal and of a command", async () => {
    await using daemon = await startDaemon();
    const trl = atWork(daemon);
    using wire = await daemon.connect();
    const { session_id } = await wire.call("session.create", { name: "sorter" });
    const params = { session_id, command: "sort; echo sorted", open_stdin: true };
    const { stream_id } = await wire.call("exec.stream", params);
    expect(trl("send", "sorter", "--enter", "b").code).toBe(0);
    expect(trl("send", stream_id.slice(2), "a", "--key", "Enter", "--eof").code).toBe(0);
    await wire.frame((frame) => frame["stream_id"] === stream_id && frame["type"] === "exit");
    expect(trl("logs", "sorter").out).toBe("a\nb\nsorted\n");
    expect(trl("send", "sorter", "more")).toMatchObject({ code: 66 });
    expect(trl("send", "work", "--eof").code).toBe(0);
    expect(trl("screen", "--exit", "work").out).toContain("exit");
    expect(trl("send", "work", "more")).toMatchObject({ code: 66 });
  });

  test("say why a command takes nothing", async () => {
    await using daemon = await startDaemon();
    const trl = commandLine(daemon.socketPath);
    using wire = await daemon.connect();
    const { session_id } = await wire.call("session.create", { name: "deaf" });
    await wire.call("exec.stream", { session_id, command: "sleep 1000" });
    const refused = trl("send", "deaf", "x");
    expect(refused).toMatchObject({ code: 64, out: "" });
    expect(refused.err).toContain("not open");
    expect(trl("send", "deaf", "--key", "C-c").err).toContain("trl cancel");
  });

  test("pass on more than a terminal takes at once", async () => {
    await using daemon = await startDaemon();
    const text = `${"0123456789abcde\n".repeat(150_000)}`;
    const trl = commandLine(daemon.socketPath, { stdin: text });
    const count = "stty raw -echo; echo ready; head -c 2400000 | md5sum; sleep 1000";
    trl("new", "-d", "counter", "--", "bash", "-c", count);
    trl("screen", "--wait", "ready", "counter");
    expect(trl("send", "counter", "-").code).toBe(0);
    const hash = new Bun.CryptoHasher("md5").update(text.replaceAll("\n", "\r")).digest("hex");
    expect(trl("screen", "--wait", hash, "--timeout", "15", "counter").code).toBe(0);
  });
});

describe("trl screen", () => {
  test("shows the text, its colours, and lines above", async () => {
    await using daemon = await startDaemon();
    const trl = commandLine(daemon.socketPath);
    const draw = "seq 1 30; printf '\\033[31mred\\033[0m and \\033[?1000hplain'; sleep 1000";
    trl("new", "-d", "art", "--", "bash", "-c", draw);
    const plain = trl("screen", "--wait", "plain", "art");
    expect(plain.out).toEndWith("\n29\n30\nred and plain\n");
    expect(plain.out.split("\n")).toHaveLength(25);
    expect(trl("screen", "--ansi", "art").out).toEndWith("\n30\n\x1b[0;31mred\x1b[0m and plain\n");
    expect(trl("screen", "--scrollback", "100", "art").out).toStartWith("1\n2\n3\n");
    const snapshot = JSON.parse(trl("screen", "--json", "--wait", "red", "art").out);
    expect(snapshot).toMatchObject({ matched: "text", cols: 80, rows: 24, cursor: { row: 23, col: 13 } });
  });

  test("tells by its exit code what it did not see", async () => {
    await using daemon = await startDaemon();
    const trl = atWork(daemon);
    const late = trl("screen", "--wait", "never", "--timeout", "0.2", "work");
    expect(late).toEqual({
      code: 124,
      out: "in> \n",
      err: 'trl: work did not show "never" within 0.2 s\n',
    });
    using waiting = startCall(daemon.socketPath, "screen", "--wait", "never", "work");
    trl("send", "work", "--enter", "exit");
    const ended = await waiting.ended();
    expect(ended).toMatchObject({ code: 1, err: 'trl: work ended and did not show "never"\n' });
    expect(trl("screen", "--exit", "work").code).toBe(0);
    expect(trl("screen", "--idle", "0.1", "work").code).toBe(1);
  });
});

describe("trl cancel", () => {
  test("stops commands by session and by id, and their sessions live on", async () => {
    await using daemon = await startDaemon();
    const trl = commandLine(daemon.socketPath);
    using wire = await daemon.connect();
    const start = async (name: string, command: string) => {
      const { session_id } = await wire.call("session.create", { name });
      const { stream_id } = await wire.call("exec.stream", { session_id, command });
      await wire.frame((frame) => frame["stream_id"] === stream_id && frame["type"] === "stdout");
      return stream_id;
    };
    const exitOf = (id: string) =>
      wire.frame((frame) => frame["stream_id"] === id && frame["type"] === "exit");
    const first = await start("one", "echo; sleep 1000");
    const second = await start("two", "trap 'echo asked; exit 5' INT; echo; while :; do sleep 0.05; done");
    const asked = trl("cancel", "--json", "--signal", "INT", second);
    expect(JSON.parse(asked.out)).toEqual({
      commands: [{ stream_id: second, cancelled: true, signal: "SIGINT" }],
    });
    expect(await exitOf(second)).toMatchObject({ exit_code: 5 });
    expect(trl("cancel", "nobody", "one")).toMatchObject({ code: 66 }); // one does not save the other
    expect(await exitOf(first)).toMatchObject({ reason: "cancelled", signal: "SIGTERM" });
    await until(
      "the session to be free",
      () => trl("run", "--session", "one", "--", "echo alive").code === 0,
    );
    expect(trl("cancel", "one")).toEqual({
      code: 1,
      out: "",
      err: "trl: nothing is running in one\n     trl ps lists what runs\n",
    });
  });
});
