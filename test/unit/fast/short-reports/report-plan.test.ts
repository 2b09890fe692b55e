import { describe, expect, test } from "bun:test";
import { execScript, reportPlan } from "../../../../src/fast/short-reports/report-plan.ts";
import { emptyState, feedOf } from "../../core/command/shell/feed.ts";

const feed = (command: string, script = "") => feedOf(command, { state: { ...emptyState, script } });
const execFile = (command: string, script?: string) => execScript(feed(command, script))?.file;

describe("the shell execs", () => {
  for (const command of ["ls -la", "/bin/true", "/x/configure --prefix='/a b' >log 2>&1", "cat <in"])
    test(command, () => expect(execFile(command)).toContain(`exec ${command};`));
});

describe("the shell does not exec", () => {
  const commands = [
    "ls; ls",
    "ls | cat",
    "ls && true",
    "ls\n",
    "",
    "echo a",
    "true",
    "kill 1",
    "pwd",
    "-x",
    "$(ls)",
    "/bin/echo $(echo $?)",
    "X=1 ls",
  ];
  for (const command of commands)
    test(JSON.stringify(command), () => expect(execFile(command)).toBeUndefined());
  test("anything where an alias or a function may be in the way", () => {
    expect(execFile("ls", "alias x='y'\n")).toBeUndefined();
    expect(execFile("ls", "eval 'exec () \n{ \n    :\n}'\n")).toBeUndefined();
    expect(execFile("ls", 'declare -x SHLVL="2"\ndeclare -x A="b"\n')).toContain("exec ls;");
  });
  test("anything where the depth of shells is the user's own", () =>
    expect(execFile("ls", "unset SHLVL\n")).toBeUndefined());
});

describe("a command reports", () => {
  test("nothing where it cannot change the shell", () => {
    expect(reportPlan(feed("ls | head"))).toEqual({ report: "none" });
    expect(reportPlan(feed("ls"))).toMatchObject({
      report: "none",
      exec: { prologueEnd: expect.any(String) },
    });
  });
  test("a part where it changes the directory or variables alone", () => {
    expect(reportPlan(feed("cd /tmp && ls"))).toEqual({ report: "part", variables: [] });
    expect(reportPlan(feed("x=1; ls"))).toEqual({ report: "part", variables: ["x"] });
  });
  test("everything otherwise", () => {
    expect(reportPlan(feed("eval x=1"))).toEqual({ report: "whole" });
    expect(reportPlan({ ...feed("x=1"), place: "elsewhere" })).toEqual({ report: "whole" });
    expect(reportPlan(feed("x=1", "alias y='z'\n"))).toEqual({ report: "whole" });
  });
});
