import { describe, expect, test } from "bun:test";
import type { CommandFeed, ShellState } from "../../../../src/core/command/shell/dialect.ts";
import { changeOf, isHarmless } from "../../../../src/fast/analysis/state-changes.ts";
import { emptyState, feedOf } from "../../core/command/shell/feed.ts";

const feed = (command: string, known: Partial<ShellState> = {}, mayImportFunctions = false): CommandFeed =>
  feedOf(command, { state: { ...emptyState, ...known }, mayImportFunctions });

describe("a command is known to change nothing:", () => {
  const commands = [
    ":",
    "true",
    "ls -la src/*.ts",
    "git status --short 2>&1 | head -n 20",
    "npm test && echo 'it works'",
    'grep -rn "a b" . >out.txt 2>/dev/null || echo "none in $HOME ${USER}"',
    "./configure --prefix=/usr; make -j4\nmake install",
    "cat <input.txt",
    "echo $PATH",
    "printf 'b\\na\\n' | sort | head -n 1",
    '[ -f "$x" ] && make >log 2>&1',
    "test a -nt b || ls",
    "echo $(true)",
    `echo "on $(date +%F) in $(cd /usr && pwd): $x"`,
    "ls $(git diff --name-only | head -n 3) && wc -l <$(ls)",
    "echo $(x=1; exit 3)",
    'echo $([ -f "$x" ] && ls a[0-9].txt showcase; y[1]=2)',
    'echo "$(a" ; x=1 ; "c)"', // one word, with a string in its substitution
    "x=1 true",
    "LC_ALL=C sort a | uniq",
    "NODE_ENV=test DEBUG=$x npm run test -- --only $(cat <list)",
    "",
  ];
  for (const command of commands) {
    test(JSON.stringify(command), () => expect(isHarmless(feed(command))).toBe(true));
  }
});

describe("a command can change only the directory:", () => {
  const commands = [
    ...["cd /", "cd a && ls", "cd; make", "ls | cd a", 'cd "$x" 2>/dev/null || cd - && pwd', "cd $(ls)"],
    'cd "$(git rev-parse --show-toplevel)" && ls',
  ];
  for (const command of commands)
    test(JSON.stringify(command), () =>
      expect(changeOf(feed(command))).toEqual({ directory: true, variables: [] }),
    );

  const others = ["cd a b", "cd -P a", "cd a && x[1]=1", "cd a; f() { :; }", "x=1 cd a", "cd a && . ./env"];
  for (const command of others)
    test(`not ${JSON.stringify(command)}`, () => expect(changeOf(feed(command))).toBe("anything"));

  test("not if a function or an alias replaces it", () => {
    expect(changeOf(feed("cd /", { script: "alias cd='x=1; cd'\n" }))).toBe("anything");
    expect(changeOf(feed("cd /", { script: "eval 'cd () \n{ \n x=1\n}'\n" }))).toBe("anything");
  });
});

describe("a command can change only some variables:", () => {
  const commands: Record<string, string[]> = {
    "x=1": ["x"],
    "x=$(uname) && echo $x": ["x"],
    'x="$(ls "$y" | wc -l)" y=2; x+=3': ["x", "y"],
    "x=1 true; y=$x": ["y"],
    "for f in *.ts; do wc -l $f; done": ["f"],
    'for i in $(ls); do x="$(grep a $i | head)" && echo $x >>log; done': ["i", "x"],
  };
  for (const [command, variables] of Object.entries(commands))
    test(JSON.stringify(command), () =>
      expect(changeOf(feed(command))).toEqual({ directory: false, variables }),
    );

  test("beside the directory", () =>
    expect(changeOf(feed("cd / && x=$(pwd)"))).toEqual({ directory: true, variables: ["x"] }));

  test("not special variables of bash, and none with attributes", () => {
    for (const command of [
      "for IFS in a; do ls; done",
      "for i in a; do eval b; done",
      "for i in a; do break; done",
    ])
      expect(changeOf(feed(command))).toBe("anything");
    for (const command of ["IFS=,", "LC_ALL=C", "IFS=, true", "RANDOM=1; ls", "POSIXLY_CORRECT=1 ls"])
      expect(changeOf(feed(command))).toBe("anything");
    for (const flags of ["i", "n", "ir", "a", "u", "xr"]) {
      const script = `declare -${flags} x="1"\n`;
      expect(changeOf(feed("x=y=2", { script }))).toBe("anything");
      expect(changeOf(feed("x=y=2 ls", { script }))).toBe("anything");
    }
    expect(changeOf(feed("x=2", { script: 'declare -x x="1"\n' }))).not.toBe("anything");
  });
});

describe("a command may change something:", () => {
  const commands = [
    "cd /",
    "2>/dev/null cd /usr",
    "77>/dev/null cd /usr",
    "ls; 9</dev/null FOO=bar",
    "make &>log",
    "true &>/dev/null cd /",
    "true; cd /",
    "ls | read x",
    "x=1",
    "x+=1",
    "x=1 cd /",
    "a[0]=1",
    "ls\ncd /",
    "ls && . ./env",
    "eval x=1",
    "printf -v x 1",
    "printf 12>/dev/null -v x hi",
    "[ -v 'a[x=5]' ]",
    "test -v 'a[x=5]'",
    "[[ a =~ a ]]",
    "((x=1))",
    "echo $((x=1))",
    `echo "$((x=1))"`,
    `echo "\${x:=1}"`,
    "echo ${x:=1}",
    "echo ${x=1}",
    "echo '$(a' ; x=1 ; 'c)'",
    "echo $(true # )\nx=1 )",
    "echo $(cat <<E\n)\nE\n)",
    "echo $(case a in a) x;; esac); cd /",
    "echo $(echo $(ls)); f() { :; }",
    `echo "$(case a in a) echo '"' ;; esac)"; x=1; : #'`,
    `echo "$(case a in a) echo '"' ;; esac)"; x=1; : \\'`,
    `echo "$(y[)]=1; echo '"')"; x=1; : #'`,
    "echo $(true) $((x=1))",
    'echo "$(true)${x:=1}"',
    "echo $(true",
    "$(echo cd) /",
    "x$(true) y",
    "echo `true`",
    "echo {fd}>out",
    "ls {fd}>out",
    "cat <<E\nE",
    "cat <<<x",
    "cat <(true)",
    "true >(cat)",
    "f() { :; }",
    "function f { :; }",
    "{ x=1; }",
    "(exit 3)",
    "if true; then x=1; fi",
    "! true",
    "time true",
    "coproc true",
    "sleep 1 & wait",
    "ls >",
    "ls > ; cd /",
    "'cd' /",
    '"cd" /',
    "\\cd /",
    "c\\d /",
    "$x",
    "${x}",
    "echo $'\\n'",
    "echo 'open",
    'echo "open',
    "command cd /",
    "builtin cd /",
    "set -e",
    "trap 'x=1' EXIT",
    "export X",
    "~/x y",
    "echo hi # cd",
  ];
  for (const command of commands) {
    test(JSON.stringify(command), () => expect(isHarmless(feed(command))).toBe(false));
  }

  test("by an alias, a function or a reference of the session", () => {
    expect(isHarmless(feed("ls", { script: "alias ls='cd /'\n" }))).toBe(false);
    expect(isHarmless(feed("[ a ]", { script: "eval '[ () \n{ \n cd /\n}'\n" }))).toBe(false);
    expect(isHarmless(feed("ls", { aliasScript: "alias ls='cd /'\n" }))).toBe(false);
    expect(isHarmless(feed("ls", { script: "eval 'ls () \n{ \n cd /\n}'\n" }))).toBe(false);
    expect(isHarmless(feed(":", { script: "eval ': () \n{ \n cd /\n}'\n" }))).toBe(false);
    expect(isHarmless(feed(":", { script: "alias :='cd /'\n" }))).toBe(false);
    expect(isHarmless(feed(":", { script: "PATH=/usr/bin:/bin\n" }))).toBe(true);
    expect(isHarmless(feed("echo $r", { script: "declare -n r='a[x=5]'\n" }))).toBe(false);
  });

  test("by an option that changes what commands do", () => {
    for (const lateScript of ["builtin set -o xtrace\n", "builtin set -o posix -o keyword\n"]) {
      expect(isHarmless(feed("ls", { lateScript }))).toBe(false);
    }
    expect(isHarmless(feed("ls", { lateScript: "builtin shopt -s expand_aliases\n" }))).toBe(true);
  });

  test("by posix mode, or by commands to repeat from an earlier version", () => {
    const given: CommandFeed = { ...feed("x=1 :"), env: [["POSIXLY_CORRECT", "1"]] };
    expect(isHarmless(given)).toBe(false);
    const script = "declare -- x=\"1\"\numask 0022\n\n\nbuiltin cd -- '/tmp'\nOLDPWD=''\nx=1\n";
    expect(changeOf(feed("x=2", { script }))).toBe("anything");
  });

  test("by a function that comes with its environment", () => {
    expect(isHarmless(feed("ls", {}, true))).toBe(false);
  });
});
