// trl ps, ls, top and whom a name means: looking at what agents do, as scripts see it.
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { commandLine } from "../../support/command-line.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { expectGolden } from "../../support/golden.ts";
import { tempDir } from "../../support/temp-dir.ts";

setDefaultTimeout(40_000);

/** A session `build` that has run two commands and runs a third, and the terminals `work` and `done`. */
async function busyDaemon() {
  await using stack = new AsyncDisposableStack();
  const daemon = stack.use(await startDaemon());
  const wire = stack.use(await daemon.connect());
  const { session_id } = await wire.call("session.create", { name: "build", working_dir: "/usr" });
  await wire.call("exec.run", { session_id, command: "echo done" });
  await wire.call("exec.run", { session_id, command: "echo no >&2; exit 3" });
  const { stream_id } = await wire.call("exec.stream", { session_id, command: "sleep 1000;\n: second line" });
  await wire.call("pty.create", { session_id: "work", name: "work", command: "sleep", args: ["1000"] });
  await wire.call("pty.create", { session_id: "done", command: "exit 4" });
  await wire.call("pty.wait", { session_id: "done", until: { exit: true } });
  const kept = stack.move();
  return {
    daemon,
    wire,
    sessionId: session_id,
    streamId: stream_id,
    trl: commandLine(daemon.socketPath),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** What differs from run to run, and the widths that come of it. */
const steady = (table: string): string => {
  const ids: string[] = [];
  const numbered = (id: string) => `${id[0]}-${ids.includes(id) ? ids.indexOf(id) : ids.push(id) - 1}`;
  return table
    .replaceAll(/\b[sx]-[0-9a-f]{8}\b/g, numbered)
    .replaceAll(/ \d+s /g, " TIME ")
    .replaceAll(/(?<= )\d{2,}(?= {2})/g, "PID")
    .replaceAll(/\d+ MB/g, "MEMORY")
    .replaceAll(/up \d+s/g, "up TIME")
    .replaceAll(/trl \d+\.\d+\.\d+/g, "trl VERSION")
    .replaceAll(/ {2,}/g, "  ");
};

describe("tables", () => {
  test("of what there is, what runs, and what ran", async () => {
    await using busy = await busyDaemon();
    await expectGolden("ls.txt", steady(busy.trl("ls").out));
    await expectGolden("ps.txt", steady(busy.trl("ps").out));
    await expectGolden("ps-all.txt", steady(busy.trl("ps", "--all").out));
    expect(busy.trl("ps", "-a").out.split("\n").length).toBe(busy.trl("ps", "--all").out.split("\n").length);
    await expectGolden("top-once.txt", steady(busy.trl("top").out));
  });

  test("have colours only where they are asked for", async () => {
    await using busy = await busyDaemon();
    const coloured = (env: Record<string, string>) =>
      commandLine(busy.daemon.socketPath, { env })("ps").out.includes("\x1b[32mrunning\x1b[39m");
    expect(coloured({ FORCE_COLOR: "1" })).toBe(true);
    expect(coloured({ FORCE_COLOR: "1", NO_COLOR: "1" })).toBe(false);
    expect(busy.trl("ps").out).not.toContain("\x1b");
  });

  test("that are empty say what to do, on stderr", async () => {
    await using daemon = await startDaemon();
    const trl = commandLine(daemon.socketPath);
    for (const words of [["ls"], ["ps"], ["ps", "--all"]]) {
      const { code, out, err } = trl(...words);
      expect({ code, out }).toEqual({ code: 0, out: "" });
      expect(err).toMatch(/^trl: .*trl (?:new|run|ps)/);
    }
    expect(trl("ls", "--json").out).toBe('{"sessions":[]}\n');
    expect(trl("ps", "--json").out).toBe('{"running":[]}\n');
    expect(trl("top", "--once").out).toMatch(/^trl .* 0 sessions .*\n$/);
  });
});

describe("JSON", () => {
  test("of ps has all that the table has, and texts as they are", async () => {
    await using busy = await busyDaemon();
    const { running } = JSON.parse(busy.trl("ps", "--all", "--json").out);
    const row = (id: string) => running.find((it: { id: string }) => it.id === id);
    expect(row(busy.streamId)).toMatchObject({
      session_id: busy.sessionId,
      session_name: "build",
      kind: "stream",
      state: "running",
      command: "sleep 1000;\n: second line",
      output_bytes: 0,
      exit_code: null,
    });
    expect(row("work")).toMatchObject({ kind: "pty", state: "running", command: "sleep 1000" });
    expect(row("done")).toMatchObject({ kind: "pty", state: "ended", exit_code: 4, reason: "exit" });
    expect(running).toHaveLength(5);
  });

  test("of top has the daemon's numbers, and rates", async () => {
    await using busy = await busyDaemon();
    await busy.wire.call("pty.create", { session_id: "flood", command: "yes" });
    const top = JSON.parse(busy.trl("top", "--json", "--sort", "rate").out);
    expect(top).toMatchObject({ pid: busy.daemon.pid, running_commands: 1, pty_sessions: 2 });
    const rates = new Map(
      top.running.map((it: { id: string; bytes_per_s: number }) => [it.id, it.bytes_per_s]),
    );
    expect([...rates.keys()].sort()).toEqual(["flood", "work", busy.streamId].sort());
    expect(rates.get("flood")).toBeGreaterThan(1000);
    expect(rates.get("work")).toBe(0);
    expect(top.bytes_per_s).toBe(rates.get("flood"));
  });
});

describe("a session is meant", () => {
  /** Two ids that differ in their first digits. */
  async function twoSessions(daemon: TestDaemon) {
    using wire = await daemon.connect();
    const create = async () => (await wire.call("session.create", {})).session_id;
    const first = await create();
    for (;;) {
      const second = await create();
      if (second.slice(0, 4) !== first.slice(0, 4)) return [first, second] as const;
    }
  }

  test("by the beginning of its id, in all verbs", async () => {
    await using daemon = await startDaemon({ flags: ["--max-sessions", "500"] });
    const [first, second] = await twoSessions(daemon);
    const trl = commandLine(daemon.socketPath);
    const run = (session: string, command: string) => trl("run", "--session", session, "--", command);
    expect(run(first, "x=1")).toEqual({ code: 0, out: "", err: "" });
    expect(run(first.slice(0, 9), "echo x is $x").out).toBe("x is 1\n");
    expect(trl("logs", first.slice(2, 9)).out).toBe("x is 1\n");
    expect(trl("logs", first.slice(0, 9)).out).toBe("x is 1\n");
    expect(trl("attach", first.slice(0, 9)).code).toBe(64);
    expect(trl("kill", second.slice(2, 9))).toEqual({ code: 0, out: "", err: "" });
    expect(trl("ls").out).not.toContain(second);
    // A word that is no id becomes a name; one that looks like an id must be one.
    expect(run(first.slice(2, 8), "echo $x$TRL_SESSION_ID").out).not.toContain(first);
    const listed = trl("ls").out;
    const unused = ["s-00", "s-01", "s-02", "s-03", "s-04"].find((beginning) => !listed.includes(beginning))!;
    expect(run(unused, "true")).toMatchObject({ code: 66, out: "" });
  });

  test("or several, which are listed", async () => {
    await using daemon = await startDaemon({ flags: ["--max-sessions", "500"] });
    using wire = await daemon.connect();
    const groups = new Map<string, string[]>();
    let pair: string[] | undefined;
    while (!pair) {
      const { session_id } = await wire.call("session.create", { name: "many" });
      const prefix = session_id.slice(2, 4);
      const group = [...(groups.get(prefix) ?? []), session_id];
      groups.set(prefix, group);
      if (group.length === 2) pair = group;
    }
    const { code, out, err } = commandLine(daemon.socketPath)("kill", pair[0]!.slice(2, 4));
    expect({ code, out }).toEqual({ code: 64, out: "" });
    expect(err).toBe(
      `trl: ${pair[0]!.slice(2, 4)} may be one of 2\n     ${pair[0]} (session many)\n     ${pair[1]} (session many)\n`,
    );
  });

  test("and told where it is not there", async () => {
    await using busy = await busyDaemon();
    for (const verb of ["logs", "screen", "cancel", "send"]) {
      const words = verb === "send" ? [verb, "biuld", "x"] : [verb, "biuld"];
      expect(busy.trl(...words)).toEqual({
        code: 66,
        out: "",
        err: "trl: there is no session biuld\n     is it meant to be build?\n",
      });
    }
  });
});

test("without a daemon, all say so", () => {
  using dir = tempDir();
  const trl = commandLine(`${dir.path}/none.sock`);
  for (const words of ["ps", "top", "ls", "screen x", "logs x", "cancel x", "send x y"])
    expect(trl(...words.split(" "))).toMatchObject({ code: 69, out: "" });
});

test("mistakes are told before anything is done", async () => {
  await using busy = await busyDaemon();
  const wrong = [
    "top --sort size",
    "top --interval 0",
    "top --interval soon",
    "screen work --idle x",
    "screen work --scrollback -1",
    "screen",
    "screen work done",
    "screen build",
    "logs",
    "logs build --from 3",
    "logs work --stderr",
    "cancel",
    "cancel work",
    "cancel build --signal SIGNOTHING",
    "send work",
    "send",
    "send work --key Entre",
  ];
  for (const line of wrong) {
    const { code, out, err } = busy.trl(...line.split(" "));
    expect({ line, code, out }).toEqual({ line, code: 64, out: "" });
    expect(err).toStartWith("trl: ");
  }
});
