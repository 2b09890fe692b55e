import { describe, expect, test } from "bun:test";
import { becoming } from "../../../../../src/core/exec/shell/sole-program.ts";

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
  mayImportFunctions: false,
});

describe("a shell becomes", () => {
  for (const command of ["ls -la", "/bin/true", "/x/configure --prefix='/a b' >log 2>&1", "cat <in"])
    test(command, () => expect(becoming(feed(command))).toContain(`exec ${command};`));
});

describe("it does not become", () => {
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
  ];
  for (const command of commands)
    test(JSON.stringify(command), () => expect(becoming(feed(command))).toBeUndefined());
  test("anything where an alias or a function may be in the way", () => {
    expect(becoming(feed("ls", "alias x='y'\n"))).toBeUndefined();
    expect(becoming(feed("ls", "eval 'exec () \n{ \n    :\n}'\n"))).toBeUndefined();
    expect(becoming(feed("ls", 'declare -x SHLVL="2"\ndeclare -x A="b"\n'))).toContain("exec ls;");
  });
  test("anything where the depth of shells is the user's own", () =>
    expect(becoming(feed("ls", "unset SHLVL\n"))).toBeUndefined());
});
