import { describe, expect, test } from "bun:test";
import type { CommandFeed } from "../../../../src/core/command/shell/dialect.ts";
import { programWords } from "../../../../src/fast/direct-exec/program-words.ts";

const feed = (command: string, script = ""): CommandFeed => ({
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
  test("what a function or an alias stands for", () => {
    expect(programWords(feed("ls", "eval 'ls () \n{ \n    :\n}'\n"))).toBeUndefined();
    expect(programWords(feed("ls", "alias ls='x'\n"))).toBeUndefined();
  });
});
