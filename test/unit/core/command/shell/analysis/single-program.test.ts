import { describe, expect, test } from "bun:test";
import { becoming, programWords } from "../../../../../../src/core/command/shell/analysis/single-program.ts";

const feed = (command: string, script = ""): Parameters<typeof becoming>[0] => ({
  commandId: "c-0",
  command,
  state: {
    workingDir: "/",
    previousDir: undefined,
    script,
    lateScript: "",
    exportedNames: [],
    lastStatus: 0,
  },
  workingDir: "/",
  place: "here",
  env: [],
  hasStdin: false,
  functions: [],
  mayImportFunctions: false,
});

describe("a shell execs", () => {
  for (const command of ["ls -la", "/bin/true", "/x/configure --prefix='/a b' >log 2>&1", "cat <in"])
    test(command, () => expect(becoming(feed(command))).toContain(`exec ${command};`));
});

describe("a shell does not exec", () => {
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
    test(JSON.stringify(command), () => expect(becoming(feed(command))).toBeUndefined());
  test("anything if an alias or a function may hide it", () => {
    expect(becoming(feed("ls", "alias x='y'\n"))).toBeUndefined();
    expect(becoming(feed("ls", "eval 'exec () \n{ \n    :\n}'\n"))).toBeUndefined();
    expect(becoming(feed("ls", 'declare -x SHLVL="2"\ndeclare -x A="b"\n'))).toContain("exec ls;");
  });
  test("anything if the user has changed SHLVL", () =>
    expect(becoming(feed("ls", "unset SHLVL\n"))).toBeUndefined());
});

describe("the daemon starts", () => {
  const cases: [string, string[]][] = [
    ["ls -la", ["ls", "-la"]],
    ["  /bin/true ;", ["/bin/true"]],
    ["git commit -m 'a b' \"c d\"''\n", ["git", "commit", "-m", "a b", "c d"]],
    ["./x a=b:c@d '' '$HOME'", ["./x", "a=b:c@d", "", "$HOME"]],
  ];
  for (const [command, words] of cases)
    test(JSON.stringify(command), () => expect(programWords(feed(command))).toEqual(words as [string]));
});

describe("it does not start", () => {
  const commands = [
    ...[
      "",
      ";",
      "ls; ls",
      "ls | cat",
      "ls >x",
      "ls <x",
      "ls &&",
      "ls &",
      "cd /",
      "echo a",
      "kill 1",
      "exec ls",
    ],
    ...[
      "ls *",
      "ls ?",
      "ls [a]",
      "ls ~",
      "ls a=~",
      "ls $HOME",
      'ls "$HOME"',
      "ls ${x}",
      "ls `pwd`",
      "x=1 ls",
    ],
    ...[
      "ls \\a",
      "ls {a,b}",
      "ls #a",
      "ls !",
      "! ls",
      "(ls)",
      "time ls",
      "ls\nls",
      "2 x",
      "%1",
      "'ls'",
      "ls 'a",
    ],
  ];
  for (const command of commands)
    test(JSON.stringify(command), () => expect(programWords(feed(command))).toBeUndefined());
  test("the name of a function or an alias", () => {
    expect(programWords(feed("ls", "eval 'ls () \n{ \n    :\n}'\n"))).toBeUndefined();
    expect(programWords(feed("ls", "alias ls='x'\n"))).toBeUndefined();
  });
});
