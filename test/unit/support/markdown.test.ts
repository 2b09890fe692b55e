// The runner of the pages' examples can itself be wrong: here it meets pages that lie.
import { describe, expect, test } from "bun:test";
import { examplesOf, fencesOf } from "../../support/markdown.ts";
import { Transcript } from "../../support/transcript.ts";
import { faultsOf } from "../../support/wire-example.ts";

const fence = "```";
const page = (...lines: string[]) => lines.join("\n");

describe("a page's examples", () => {
  test("are commands with what they print", () => {
    const lines = [
      "# A",
      `${fence}console`,
      "$ (echo a",
      ">  echo b)",
      "a",
      "b",
      "$ true",
      "$ cat",
      "x",
      "> y",
      fence,
    ];
    expect(examplesOf(page(...lines))).toEqual([
      {
        kind: "console",
        line: 2,
        startsAnew: false,
        steps: [
          { command: "(echo a\n echo b)", output: "a\nb\n" },
          { command: "true", output: "" },
          { command: "cat", output: "x\n> y\n" },
        ],
      },
    ]);
  });

  test("are Python with the block that follows, and nothing in between", () => {
    const code = [`${fence}python`, "print(1)", fence];
    const output = [fence, "1", fence];
    expect(examplesOf(page(...code, "", ...output))).toMatchObject([{ code: "print(1)\n", output: "1\n" }]);
    expect(examplesOf(page(...code, "Words.", ...output))).toMatchObject([{ output: "" }, { kind: "text" }]);
    expect(examplesOf(page(...code, ...code))).toMatchObject([{ output: "" }, { output: "" }]);
  });

  test("are JavaScript that is run where an output follows, else a fragment as TypeScript is", () => {
    const code = (language: string) => [`${fence}${language}`, "f(1)", fence];
    const output = [fence, "1", fence];
    expect(examplesOf(page(...code("js"), "", ...output))).toMatchObject([
      { kind: "program", language: "js", code: "f(1)\n", output: "1\n" },
    ]);
    expect(examplesOf(page(...code("js"), "Words.", ...code("ts")))).toMatchObject([
      { kind: "fragment", language: "js" },
      { kind: "fragment", language: "ts", line: 5 },
    ]);
  });

  test("begin anew where the page says so", () => {
    const block = [`${fence}console`, "$ true", fence];
    const text = page(...block, "With a daemon that was just started:", ...block, "And:", ...block);
    expect(examplesOf(text).map(({ startsAnew }) => startsAnew)).toEqual([false, true, false]);
  });

  test("are told from text, JSON and exchanges, also in a list", () => {
    const text = page(
      fence,
      "> {}",
      fence,
      "- item",
      "",
      `  ${fence}json`,
      "  {}",
      `  ${fence}`,
      `${fence}sh`,
      "ls",
      fence,
    );
    expect(examplesOf(text).map(({ kind, line }) => [kind, line])).toEqual([
      ["wire", 1],
      ["json", 6],
      ["text", 9],
    ]);
    expect(fencesOf(text)[1]!.text).toBe("{}\n");
  });

  test("that are not whole are said", () => {
    expect(() => examplesOf(page(`${fence}console`, "a", fence))).toThrow("line 1 begins with output");
    expect(() => examplesOf(page("", fence, "a"))).toThrow("line 2 has no end");
  });
});

describe("a transcript", () => {
  const same = (told: string, seen: string) => {
    const compared = new Transcript().compare(told, seen);
    return compared.told === compared.seen;
  };

  test("is the same but for ids, pids, dates, timings and versions", () => {
    const told = `{"session_id":"s-00000001","pid":12,"created_at":"2026-11-16T04:31:01.560Z","duration_ms":2}\n`;
    const seen = `{"session_id":"s-abcdef12","pid":345,"created_at":"2027-01-01T00:00:00.001Z","duration_ms":67}\n`;
    expect(same(told, seen)).toBe(true);
    expect(same("[{'pid': 1, 'command': 'a'}]", "[{'pid': 23, 'command': 'a'}]")).toBe(true);
    expect(
      same("trl 0.1.0 on x: up 0 s, answered in 1.64 ms", "trl 0.2.0 on x: up 9 s, answered in 10 ms"),
    ).toBe(true);
    expect(same("pid                 19,599\n", "pid  1\n")).toBe(true);
  });

  test("is the same where tables differ in ages, pids and what a prompt takes", () => {
    const ls =
      "s-00000001  a  exec  idle   9s      -  -         -  /usr  -\nw  w  pty  exited 0   3s  19327  80x24  0  /  sh";
    const seenLs =
      "s-0000000a  a  exec  idle   0s  -  -  -  /usr  -\nw  w  pty  exited 0  12s  7  80x24  0  /  sh";
    expect(same(ls, seenLs)).toBe(true);
    expect(same(ls, seenLs.replace("idle", "running"))).toBe(false);
    expect(same(ls, seenLs.replace("80x24", "80x25"))).toBe(false);
    expect(same(ls, seenLs.replace("exited 0", "exited 1"))).toBe(false);
    const ps =
      "x-00000001  a  stream  19245  exited 3   3s  21 B  sleep 3s\nw  w  pty  19327  running  3s  10 B  sh";
    const seenPs =
      "x-0000000a  a  stream  7  exited 3  0s  21 B  sleep 3s\nw  w  pty  8  running  9s  24 B  sh";
    expect(same(ps, seenPs)).toBe(true);
    expect(same(ps, seenPs.replace("21 B", "22 B"))).toBe(false);
    expect(same(ps, seenPs.replace("sleep 3s", "sleep 4s"))).toBe(false);
    expect(same(ps, seenPs.replace("exited 3", "exited 0"))).toBe(false);
    const top = "trl 0.1.0  up 5s  3 sessions  1 command running  1 terminal  60 MB  0 B/s";
    const seenTop = "trl 0.1.0  up 9s  3 sessions  1 command running  1 terminal  71 MB  1.2 KB/s";
    expect(same(top, seenTop)).toBe(true);
    expect(same(top, seenTop.replace("3 sessions", "4 sessions"))).toBe(false);
  });

  test("is another where anything else differs", () => {
    expect(same('{"ok":true}', '{"ok":false}')).toBe(false);
    expect(same('{"stdout":"a\\n","exit_code":0}', '{"stdout":"b\\n","exit_code":0}')).toBe(false);
    expect(same('{"stdout_bytes":15}', '{"stdout_bytes":16}')).toBe(false);
    expect(same('{"a":1}', '{"a":1,"b":2}')).toBe(false);
    expect(same("active sessions  1", "active sessions  2")).toBe(false);
    expect(same("127.0.0.1", "127.0.0.2")).toBe(false);
    expect(same("", "a")).toBe(false);
    expect(same("a\n", "")).toBe(false);
  });

  test("is another where one id stands for two", () => {
    expect(same("s-00000001 s-00000001", "s-0000000a s-0000000a")).toBe(true);
    expect(same("s-00000001 s-00000001", "s-0000000a s-0000000b")).toBe(false);
    expect(same("s-00000001 s-00000002", "s-0000000a s-0000000a")).toBe(false);
  });

  test("does not mind how a stream was cut, but what was in it", () => {
    const frame = (data: string, offset: number) =>
      JSON.stringify({ stream_id: "x-00000001", type: "stdout", data, offset });
    const cut = `${frame("a\n", 0)}\n${frame("b\n", 2)}\n`;
    expect(same(cut, `${frame("a\nb\n", 0)}\n`)).toBe(true);
    expect(same(cut, `${frame("a\nc\n", 0)}\n`)).toBe(false);
    expect(same(cut, `${frame("a\nb\n", 1)}\n`)).toBe(false);
  });

  test("knows the ids that a command means", () => {
    const transcript = new Transcript();
    transcript.compare("made s-00000001 and x-00000002", "made s-0000000a and x-0000000b");
    expect(transcript.translate("end s-00000001; end x-00000002")).toBe("end s-0000000a; end x-0000000b");
    expect(() => transcript.translate("end s-00000003")).toThrow("which none of its outputs has shown");
  });
});

describe("an exchange", () => {
  const ask = '> {"id":1,"method":"system.ping"}\n';

  test("that the tables know has no faults", () => {
    expect(faultsOf(`${ask}< {"id":1,"ok":true,"data":{"uptime_s":0,"version":"0.1.0"}}\n`)).toEqual([]);
    expect(faultsOf('< {"stream_id":"x-00000001","type":"stdout","data":"","offset":0}\n')).toEqual([]);
  });

  test("with a field too many, one too few, or another name is said", () => {
    const reply = (data: object) => faultsOf(`${ask}< ${JSON.stringify({ id: 1, ok: true, data })}\n`).length;
    expect(reply({ uptime_s: 0, version: "0", more: 1 })).toBe(1);
    expect(reply({ uptime_s: 0 })).toBe(1);
    expect(faultsOf('> {"id":1,"method":"system.pin"}\n< {"id":1,"ok":true,"data":{}}\n')).toHaveLength(1);
    expect(faultsOf('< {"id":1,"ok":false,"error":{"code":"OOPS","message":""}}\n')).toHaveLength(1);
    expect(faultsOf('< {"stream_id":"x-00000001","type":"stdin","data":"","offset":0}\n')).toHaveLength(1);
    expect(faultsOf('> {"type":"WriteInput","session_id":"a","data":"b","more":1}\n')).toHaveLength(1);
  });
});
