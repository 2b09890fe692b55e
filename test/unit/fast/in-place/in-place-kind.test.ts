import { describe, expect, test } from "bun:test";
import type { CommandFeed, ShellState } from "../../../../src/core/command/shell/dialect.ts";
import { inPlaceKind } from "../../../../src/fast/in-place/in-place-kind.ts";
import { emptyState, feedOf } from "../../core/command/shell/feed.ts";

const state: ShellState = {
  ...emptyState,
  script: 'shopt -u expand_aliases\ndeclare -i OPTIND="1"\ndeclare -x A="b"\numask 0022\n',
  lateScript: "builtin shopt -s expand_aliases\n",
};

const feed = (command: string, more: Partial<CommandFeed> = {}) => feedOf(command, { state, ...more });

describe("changes nothing but the directory:", () => {
  const commands = [
    "cd",
    "cd /usr",
    "cd -",
    ":",
    "true",
    "false",
    "pwd",
    "echo hello",
    "echo 'a b' \"$HOME ${x}\" *.ts ~",
    "test -d /usr && echo yes",
    '[ -f "$x" ] || echo no',
    '[ "$x" = y ]',
    "test a -ef b",
    "test",
    "printf 'a\\n'",
    "printf '%s %d%%n\\n' $x *",
  ];
  const lists = ["echo a && echo b || false; pwd\ntrue", "echo a;", "echo a\n", "  echo  a  "];
  for (const command of [...commands, ...lists])
    test(JSON.stringify(command), () => expect(inPlaceKind(feed(command))).toEqual({ variables: [] }));
});

describe("changes only variables:", () => {
  const commands: Record<string, string[]> = {
    "x=1": ["x"],
    "x=1 y='2 3'": ["x", "y"],
    "x+=$y": ["x"],
    "x=$SRANDOM; echo $EPOCHSECONDS": ["x"],
    "export A": ["A"],
    "export A=b B=$PATH:/x": ["A", "B"],
    "cd a && x=1; echo $x": ["x"],
    "for i in 1 2 3; do echo $i; done": ["i"],
    'for f in *.ts "$x"\ndo\n  echo $f\n  y=$f\ndone\n': ["f", "y"],
    "\tfor i in 'a;b' c ;\n\n do  echo $i;\ndone ; ": ["i"],
    "for i in a\n\ndo echo do done; done": ["i"],
  };
  for (const [command, variables] of Object.entries(commands))
    test(JSON.stringify(command), () =>
      expect(inPlaceKind(feed(command))?.variables.toSorted()).toEqual(variables.toSorted()),
    );
});

describe("needs a shell of its own:", () => {
  const programs = ["ls", "/bin/true", "kill 1", "read x", "exit", "exec 3>f"];
  const evaluating = [
    "printf",
    "printf -v x 1",
    "printf $x",
    "printf %n x",
    "printf '%%%-3.2ln' x",
    "test -v 'a[x=1]'",
    "test -R x",
    "[ -v x ]",
    "test $x y",
    'test "$x" y',
    "test *.ts",
    "test a -o -v x",
    "[ a",
    "[ a ] b",
  ];
  const loops = [
    "for i in a; do ls; done",
    "for i in a; do echo a | cat; done",
    "for i in a; do echo a; done | cat",
    "for i in a; do echo a; done; done",
    "for i in a; do echo '; done'",
    "for i in '; do ' b; do echo; done",
    "for i in a; do break; done",
    "for i in a >f; do echo; done",
    "for i in a; b; do echo; done",
    "for i in $(ls); do echo; done",
    "for i; do echo; done",
    "for i in ; do echo; done",
    "for i in a do echo; done",
    "for i in a;; do echo; done",
    "for i in a\n; do echo; done",
    "for i in a; do echo done",
    "for i in a; do echo;; done",
    "for i in a; do done",
    "for i in a; do echo; done;;",
    "for i in a;\rdo echo; done",
    "for IFS in a; do echo; done",
    "for i in a; do echo $LINENO; done",
    "for ((;;)); do echo; done",
    "while true; do echo; done",
  ];
  const language = [
    "echo a | cat",
    "echo a &",
    "echo a > f",
    "echo $(ls)",
    "echo `ls`",
    "(echo a)",
    "{ echo a; }",
  ];
  const expansions = [
    "echo $((x=1))",
    "echo ${x:=1}",
    "echo ${a[x]}",
    "echo $?",
    "echo $LINENO",
    "echo $_",
    "echo ${BASH_SOURCE}",
  ];
  const broken = ["", ";", "echo a &&", "&& echo a", "echo a ; ; echo b", "echo 'a", "|| true"];
  const assignments = [
    "x=1 echo a",
    "a[0]=1",
    "x=(1 2)",
    "IFS=x",
    "PATH_=1 ls",
    "POSIXLY_CORRECT=1",
    "UID=3",
    "LC_ALL=C",
  ];
  const options = [
    "export -f f",
    "export -n A",
    "export",
    "cd a b",
    "set -e",
    "shopt -s extglob",
    "alias a=b",
    "f() { :; }",
  ];
  for (const command of [
    ...programs,
    ...evaluating,
    ...loops,
    ...language,
    ...expansions,
    ...broken,
    ...assignments,
    ...options,
  ])
    test(JSON.stringify(command), () => expect(inPlaceKind(feed(command))).toBeUndefined());
});

describe("every command needs a shell of its own", () => {
  const withScript = (line: string) => ({ state: { ...state, script: `${state.script}${line}\n` } });
  const cases: [name: string, Partial<CommandFeed>, command?: string][] = [
    ["in another directory", { place: "elsewhere" }],
    ["in a removed directory", { place: "gone" }],
    ["with variables of its own", { env: [["A", "b"]] }],
    ["with stdin", { hasStdin: true }],
    ["with functions from its environment", { mayImportFunctions: true }],
    ["with errexit", { state: { ...state, lateScript: "builtin set -o errexit\n" } }],
    ["with nounset", withScript("builtin set -o nounset")],
    ["with an option of shopt", withScript("shopt -s failglob")],
    ["without a default option of shopt", withScript("shopt -u sourcepath")],
    ["with a list of variables that would be long", withScript(`declare -- x="${"a".repeat(70_000)}"`)],
    ["with aliases", withScript("alias echo='rm -r'")],
    ["with a readonly variable", withScript('declare -r x="1"')],
    ["with a reference", withScript('declare -n x="y"')],
    ["with an integer variable", withScript('declare -ix x="1"')],
    ["with a directory stack", withScript("builtin pushd -n -- /usr")],
    ["with a function of that name", withScript("eval 'echo () \n{ \n    exit\n}'")],
    ["with a function named test", withScript("eval 'test () \n{ \n    exit\n}'"), "test -d /usr"],
    ["with a function named [", withScript("eval '[ () \n{ \n    exit\n}'"), "[ a ]"],
    ["with another function of that name", withScript("eval 'f () \n{ \n    :\n}\necho () \n{ \n    :\n}'")],
  ];
  for (const [name, more, command = "echo hello"] of cases)
    test(name, () => expect(inPlaceKind(feed(command, more))).toBeUndefined());
});

test("a function of another name does not matter", () => {
  const script = `${state.script}eval 'greet () \n{ \n    echo hello\n}'\n`;
  expect(inPlaceKind(feed("echo hello", { state: { ...state, script } }))).toEqual({ variables: [] });
});
