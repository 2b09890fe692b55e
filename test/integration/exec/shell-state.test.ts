// What a session keeps from command to command, and what can never wedge it, in each stateful shell.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { needs, needsShell } from "../../support/needs.ts";
import { newSession } from "../../support/session.ts";
import { testOf } from "../../support/shells.ts";
import type { Wire } from "../../support/wire.ts";

let daemon: TestDaemon;
let wire: Wire;
beforeAll(async () => {
  daemon = await startDaemon({ flags: ["--max-sessions", "1000"] });
  wire = await daemon.connect();
});
afterAll(() => daemon[Symbol.asyncDispose]());

const all = ["bash", "zsh", "dash", "/bin/sh"];
const rich = ["bash", "zsh"];

test("a bash that goes by the name of sh keeps its state", async () => {
  symlinkSync("/bin/bash", `${daemon.dir}/sh`);
  const { out } = await newSession(wire, { shell: `${daemon.dir}/sh` });
  await out("cd /usr; x=1");
  expect(await out("echo $x; pwd")).toBe("1\n/usr");
  expect(await out("2>/dev/null cd /; pwd")).toBe("/");
  await out("2>/dev/null cd /usr");
  expect(await out("pwd")).toBe("/usr");
});

for (const shell of all)
  needsShell(shell).describe(`${shell} keeps`, () => {
    test("the directory, and `cd -`", async () => {
      const { out } = await newSession(wire, { shell });
      await out("cd /usr; cd bin");
      expect(await out("pwd")).toBe("/usr/bin");
      expect(await out("cd - >/dev/null; pwd")).toBe("/usr");
    });

    test("what hides behind the name of a harmless program", async () => {
      const { out } = await newSession(wire, { shell });
      await out("true; ls >/dev/null; alias ls='cd /usr'");
      await out("ls");
      expect(await out("pwd")).toBe("/usr");
    });

    test("a directory with every kind of odd character", async () => {
      const { out } = await newSession(wire, { shell, working_dir: daemon.dir });
      const odd = ' -it\'s "odd" $HOME `x` \\ *\nnext líne ';
      mkdirSync(`${daemon.dir}/${shell.replaceAll("/", "")}${odd}`);
      await out(`cd -- "$D"`, { env: { D: `${shell.replaceAll("/", "")}${odd}` } });
      expect(await out("pwd")).toBe(`${daemon.dir}/${shell.replaceAll("/", "")}${odd}`);
    });

    test("variables, exported or not, byte for byte", async () => {
      const { out, run } = await newSession(wire, { shell });
      const value = "a 'b' \"c\" $d `e` \\ * \t ünï \u0001\u007f\nline two\n";
      await out('plain=$V; export loud="$V"', { env: { V: value } });
      expect((await run('printf %s "$plain"')).stdout).toBe(value);
      expect((await run("printenv loud")).stdout).toBe(`${value}\n`);
      expect((await run("printenv plain")).exit_code).toBe(1);
    });

    test("bytes that are not UTF-8", async () => {
      const { out, run } = await newSession(wire, { shell });
      await out("x=$(printf '\\377\\376z')");
      const { stdout } = await run('printf %s "$x"', { encoding: "base64" });
      expect(Buffer.from(stdout, "base64").toString("hex")).toBe("fffe7a");
    });

    test("what was unset, also what the daemon gave", async () => {
      const { out } = await newSession(wire, { shell, env: { GIVEN: "1" } });
      await out("mine=1; unset GIVEN PATH");
      await out("unset mine");
      expect(await out('echo "${GIVEN-none} ${mine-none} ${PATH-none}"')).toBe("none none none");
    });

    test("aliases", async () => {
      const { out } = await newSession(wire, { shell });
      await out("alias greet='echo \"it'\\''s\" me'");
      expect(await out("greet you")).toBe("it's me you");
      await out("unalias greet");
      expect(await out("greet 2>/dev/null || echo gone")).toBe("gone");
    });

    test("options of `set -o`", async () => {
      const { out, run } = await newSession(wire, { shell });
      await out("set -u; set -o noglob");
      expect((await run("echo $nothing_here")).exit_code).not.toBe(0);
      expect(await out("echo *")).toBe("*");
      await out("set +u; set +o noglob");
      expect(await out('echo "[$nothing_here]"')).toBe("[]");
    });

    test("the exit status, the mask and read-only variables", async () => {
      const { out, run } = await newSession(wire, { shell });
      expect((await run("umask 027; readonly fixed=1; exit 7")).exit_code).toBe(7);
      expect(await out('echo "$? $(umask)"')).toMatch(/^7 0?027$/);
      expect((await run("fixed=2")).exit_code).not.toBe(0);
      expect(await out("echo $fixed")).toBe("1");
    });
  });

for (const shell of all)
  needsShell(shell).describe(`${shell} reports nothing of a handler's`, () => {
    for (const env of [{}, { given: "x" }]) {
      test(`with ${Object.keys(env).length} variables given`, async () => {
        const { out, run } = await newSession(wire, { shell, working_dir: daemon.dir });
        await out("i=0; while [ $i -lt 5000 ]; do eval \"x$i='some value'\"; i=$((i+1)); done");
        // Signals all the way, from before the command's end until its shell is no more.
        const kill =
          '(while kill -USR1 $$; do /bin/true; done) >/dev/null 2>&1 & until [ -n "$hit" ]; do :; done';
        const handler = `trap 'hit=1; echo "a=1; touch ${daemon.dir}/ran"' USR1`;
        expect((await run(`${handler}; ${kill}; w=1; cd /usr`, { env })).exit_code).toBe(0);
        expect(await out("echo $w $x5 $given; pwd")).toBe("1 some value\n/usr");
        expect(existsSync(`${daemon.dir}/ran`)).toBe(false);
      });

      test(`and leaves it to one on EXIT, with ${Object.keys(env).length} variables given`, async () => {
        const { out } = await newSession(wire, { shell });
        await out("alias greet='echo hello'");
        const handlers = "trap 'greet usr' USR1; trap 'kill -USR1 $$; greet exit' EXIT";
        expect(await out(`${handlers}; w=1`, { env })).toBe("hello usr\nhello exit");
        expect(await out("echo $w")).toBe("1");
      });
    }
  });

for (const shell of rich)
  needsShell(shell).describe(`${shell} keeps`, () => {
    test("what a function does that is named like a harmless program", async () => {
      const { out } = await newSession(wire, { shell });
      await out("uname() { builtin cd /usr; }; seen=no");
      await out("uname && true");
      expect(await out("pwd")).toBe("/usr");
      await out("true() { seen=yes; }; true");
      expect(await out("echo $seen")).toBe("yes");
    });

    test("functions, with here-documents, quotes and other names", async () => {
      const { out } = await newSession(wire, { shell });
      await out(`say() { cat <<E
  "$1" and '$2'
E
}
with-dash() { say a "$1"; }`);
      expect(await out("with-dash 'b c'")).toBe("  \"a\" and 'b c'");
      await out("unset -f say");
      expect(await out("say 2>/dev/null || echo gone")).toBe("gone");
    });

    testOf("associative arrays", shell)("arrays and associative arrays", async () => {
      const { out } = await newSession(wire, { shell });
      await out(
        "a=(one 'two  spaces' '' $'new\\nline'); k='key with space'; typeset -A h; h[$k]='v\"1'; h[b]=2",
      );
      const lines = await out('printf "<%s>" "${a[@]}"; echo; printf "%s" "${h[$k]}"; echo ${#a[@]}');
      expect(lines).toBe('<one><two  spaces><><new\nline>\nv"14');
    });

    test("functions that an alias would change if it were read twice", async () => {
      const { out } = await newSession(wire, { shell });
      await out("alias ls='echo aliased'");
      await out("f() { ls x; }");
      await out(":");
      expect(await out("f")).toBe("aliased x");
    });

    test("functions named like builtins, without their meeting the machinery", async () => {
      const { out } = await newSession(wire, { shell });
      await out(
        'cd() { builtin cd "$@" && echo moved; }; printf() { echo no; }; pwd() { echo wrong; }; umask() { echo no; }',
      );
      expect(await out("cd /usr")).toBe("moved");
      expect(await out("cd bin; echo $PWD; printf x; umask")).toBe("moved\n/usr/bin\nno\nno");
      await out(
        "exec() { echo no; }; export() { echo no; }; set() { echo no; }; unset() { echo no; }; trap() { echo no; }; alias cd='echo no'",
      );
      expect(await out("builtin pwd; set x")).toBe("/usr/bin\nno");
    });

    test("the directory stack", async () => {
      const { out } = await newSession(wire, { shell });
      await out("cd /usr; pushd /etc >/dev/null");
      expect(await out("popd >/dev/null; pwd")).toBe("/usr");
    });
  });

describe("bash keeps", () => {
  test("integers that hold what is no number, without calculating it, and all else beside them", async () => {
    const { out } = await newSession(wire, { shell: "bash", working_dir: "/usr/lib" });
    await out("x=1.5 y=010 z='a[$(touch pwned)]' q=(x.y 2); declare -i x y z q; export x; n=4; declare -i n");
    await out("readonly y");
    expect(await out('echo "$x $y $z ${q[0]} $n"; pwd; printenv x')).toBe(
      "1.5 010 a[$(touch pwned)] x.y 4\n/usr/lib\n1.5",
    );
    expect(await out("n=2+3; q[1]=1+1; echo $n ${q[1]}; ls pwned 2>/dev/null; declare -p y")).toBe(
      '5 2\ndeclare -ir y="010"',
    );
  });

  test("integers beside what is given to one command under their name, which is text", async () => {
    const { out } = await newSession(wire, { shell: "bash", working_dir: "/usr/lib" });
    await out("x=1.5; declare -i x n=4");
    expect(await out('y=1; cd /usr; echo "$x $n"', { env: { x: "a b", n: "3.5" } })).toBe("a b 3.5");
    expect(await out('/bin/echo "$x $n"', { env: { x: "a b", n: "3.5" } })).toBe("a b 3.5");
    expect(await out('echo "$x $y $n"; pwd; n=2+3; echo $n; declare -p x')).toBe(
      '1.5 1 4\n/usr\n5\ndeclare -i x="1.5"',
    );
  });

  testOf("references (declare -n)")(
    "what a name stands for, and what cannot be changed, beside what is given to one command",
    async () => {
      const { out } = await newSession(wire, { shell: "bash" });
      await out("declare -n ref=kept; kept=1; declare -ir fixed=3");
      expect(await out('w=1; echo "$ref $fixed"', { env: { ref: "given", fixed: "t" } })).toBe("given 3");
      expect(await out("declare -p ref kept fixed w")).toBe(
        'declare -n ref="kept"\ndeclare -- kept="1"\ndeclare -ir fixed="3"\ndeclare -- w="1"',
      );
      expect(await out("ref=2; echo $kept")).toBe("2");
    },
  );

  testOf("declare -l and -u")(
    "what it has, of whatever kind, beside what is given to one command under its name, which is text",
    async () => {
      const { out } = await newSession(wire, { shell: "bash", working_dir: "/usr" });
      await out("v=Low; declare -l v; export v; u=Up; declare -u u; a=(1 2); declare -A h=([k]=w)");
      const env = { v: "ABC", u: "abc", a: "x", h: "y" };
      expect(await out("printenv v u a h", { env })).toBe("ABC\nabc\nx\ny");
      expect(await out('echo "$v $u $a $h"; cd /', { env })).toBe("ABC abc x y");
      expect(await out('echo "$v $u ${a[1]} ${h[k]}"; printenv v; v=NEW; echo "$v"; pwd')).toBe(
        "Low Up 2 w\nLow\nnew\n/",
      );
    },
  );

  test("what a command was given, for its own handler on EXIT, and not after it", async () => {
    const { out } = await newSession(wire, { shell: "bash" });
    await out("v=old");
    expect(await out("trap 'echo bye $v $w' EXIT; w=1", { env: { v: "x" } })).toBe("bye x 1");
    expect(await out("echo $v $w; trap")).toBe("old 1");
  });

  testOf("the handler on CHLD before the one on EXIT")(
    "a handler on EXIT, also where errors end the command or are handled themselves",
    async () => {
      const { out, run } = await newSession(wire, { shell: "bash" });
      const env = { v: "x" };
      const handler = "trap 'echo bye $v $?' EXIT";
      expect(await run(`set -euo pipefail; ${handler}; w=1; false | true`, { env })).toMatchObject({
        stdout: "bye x 1\n",
        exit_code: 1,
      });
      const failing = `set +eu; set -E; trap 'echo err' ERR; ${handler}; w=2; exit 3`;
      expect(await run(failing, { env })).toMatchObject({ stdout: "bye x 3\n", exit_code: 3 });
      expect(await out("echo $w $v")).toBe("2");
      expect(await out("f() { trap 'echo in $v; exit 0' EXIT; false; }; set -e; f", { env })).toBe("in x");
      const counting = "set +e; n=0; trap 'n=$((n+1))' CHLD; trap 'echo $v $n; trap -p CHLD' EXIT; /bin/true";
      expect(await out(counting, { env })).toBe("x 1\ntrap -- 'n=$((n+1))' SIGCHLD");
    },
  );

  test("everything, with a handler on CHLD and a function named declare", async () => {
    const { out } = await newSession(wire, { shell: "bash" });
    await out('declare() { builtin declare "$@"; }; trap : CHLD; w=1', { env: { v: "x" } });
    expect(await out("echo $w; builtin declare -F declare")).toBe("1\ndeclare");
  });

  test("everything, with a handler on EXIT and a limit for functions", async () => {
    const { out } = await newSession(wire, { shell: "bash" });
    expect(await out("export FUNCNEST=1; trap 'echo $v' EXIT; w=1", { env: { v: "x" } })).toBe("x");
    expect(await out("echo $w $v; printenv FUNCNEST")).toBe("1\n1");
  });

  test("everything, with a constant limit for functions", async () => {
    const { out } = await newSession(wire, { shell: "bash" });
    await out("readonly FUNCNEST=100; trap : EXIT; w=1; cd /usr", { env: { v: "x" } });
    expect(await out("echo $w; pwd")).toBe("1\n/usr");
  });

  test("everything, where a child is killed before it becomes its program", async () => {
    const { out } = await newSession(wire, { shell: "bash" });
    for (let i = 0; i < 20; i++) {
      await out(`sleep 5 & kill $!\nw=${i}; cd /usr`);
      expect(await out("echo $w; pwd; cd /tmp")).toBe(`${i}\n/usr`);
    }
  });

  test("everything, where sh may not change IFS", async () => {
    const { out, run } = await newSession(wire, { shell: "sh" });
    expect((await run("readonly IFS; w=1; cd /usr")).exit_code).toBe(0);
    expect(await out("echo $w; pwd")).toBe("1\n/usr");
  });

  testOf("the handler on CHLD before the one on EXIT")(
    "handlers for one on EXIT, whatever an alias makes of `trap`",
    async () => {
      const { out } = await newSession(wire, { shell: "bash" });
      await out("alias trap='n=99; :'");
      const counting = "\\trap 'n=$((n+1))' CHLD; \\trap '/bin/true; \\trap -p CHLD; echo $n' EXIT; w=1";
      for (const env of [{}, { v: "x" }])
        expect(await out(counting, { env })).toBe("trap -- 'n=$((n+1))' SIGCHLD\n1");
      // One more signal would be ignored, if this line were taken for the end of a handler.
      const lines = "\\trap $'echo \\'a\\' SIGHUP\\nb' USR1; \\trap '\\trap -p HUP' EXIT; w=2";
      expect(await out(lines)).toBe("");
      expect(await out("echo $w")).toBe("2");
    },
  );

  test("words and directories, where a command was given something and has a handler on EXIT", async () => {
    const { out } = await newSession(wire, { shell: "bash", working_dir: "/usr" });
    await out("trap : EXIT; set -- one 'two three'; pushd /etc >/dev/null", { env: { v: "x" } });
    expect(await out('echo "$# $2"; popd >/dev/null; pwd')).toBe("2 two three\n/usr");
  });

  testOf("references (declare -n)")(
    "what a command has made of names that it was given, as it was before",
    async () => {
      const { out } = await newSession(wire, { shell: "bash", working_dir: "/usr" });
      await out("k=1; s=mine; cd /tmp; cd /etc");
      await out("declare -n v=k", { env: { v: "k" } });
      await out("declare -rn v=k", { env: { v: "k" } });
      await out("main() { local v=${v:-none} s=2; exit 0; }; main", { env: { v: "secret", s: "secret" } });
      await out("set -a; w=0", { env: { k: "secret" } });
      await out("set +a; w=0");
      await out("readonly v s; w=1", { env: { v: "secret", s: "secret" } });
      await out("w=2", { env: { OLDPWD: "/bin" } });
      expect(await out('echo "$k [$v] $s $w $OLDPWD"; env | grep -c secret; s=again; echo $s')).toBe(
        "1 [] mine 2 /tmp\n0\nagain",
      );
      expect(await out("echo $s", { env: { s: "given" } })).toBe("given");
      expect(await out("printenv k; :")).toBe("");
    },
  );

  test("what it was started with, and what was just assigned, where a command makes them constant", async () => {
    const { out } = await newSession(wire, { shell: "bash", env: { X: "or'ig" } });
    await out("readonly X PATH; w=1", { env: { X: "given", PATH: "/bin:/usr/bin:/nowhere" } });
    expect(await out("printenv X; env | grep -c nowhere; X=new; echo $X")).toBe("or'ig\n0\nnew");
    await out("v=abc");
    await out("readonly v; w=1", { env: { v: "x" } });
    expect(await out("echo $v; v=2; echo $v")).toBe("abc\n2");
  });

  test("its state, however few calls of functions it allows in each other", async () => {
    const { out } = await newSession(wire, { shell: "bash" });
    await out("FUNCNEST=1; y=1; (:)");
    expect(await out("echo $y $FUNCNEST")).toBe("1 1");
  });

  test("functions that have the name of what a command is not to have", async () => {
    const { out } = await newSession(wire, { shell: "bash" });
    await out("foo() { echo F; }; bar() { echo B; }; foo=(1 2)");
    await out("w=1", { env: { foo: null, bar: null } });
    expect(await out("foo; bar; echo ${foo[1]}")).toBe("F\nB\n2");
  });

  testOf("names of exported functions as those of bash 5")(
    "variables, where a function is named as what restores them, and where text looks like it",
    async () => {
      const { out } = await newSession(wire, { shell: "bash" });
      await out("declare() { echo mine; }; export -f declare; v=old");
      await out("w=1", { env: { v: "x" } });
      expect(await out('echo "$v $w"; declare; bash -c declare')).toBe("old 1\nmine\nmine");
      const { out: other } = await newSession(wire, { shell: "bash" });
      await other("f() { cat <<E\ndeclare -r v=1\nE\n}; alias a='b\ndeclare -r u=1'");
      expect(await other("echo $v $u; w=1", { env: { v: "x", u: "y" } })).toBe("x y");
    },
  );

  testOf("a list of variables that are exported without a value")(
    "that a variable is exported without a value",
    async () => {
      const { out } = await newSession(wire, { shell: "bash", env: { FOO: "secret" } });
      await out("unset FOO; declare -x FOO");
      expect(await out("echo [$FOO]; env | grep -c FOO; declare -p FOO")).toBe("[]\n0\ndeclare -x FOO");
      expect(await out("printenv FOO; :")).toBe("");
      await out("FOO=new");
      expect(await out("printenv FOO")).toBe("new");
    },
  );

  test("shopt, positional parameters, attributes, namerefs", async () => {
    const { out } = await newSession(wire);
    await out(
      "shopt -s extglob nullglob; set -o pipefail; set -- one 'two three'; declare -i n=4; declare -u up=abc; t=5; declare -n ref=t",
    );
    expect(await out("shopt -q extglob && shopt -q nullglob && echo on; false | true || echo piped")).toBe(
      "on\npiped",
    );
    expect(await out('n+=1; up+=d; echo "$1,$2,$#" $n $up $ref')).toBe("one,two three,2 5 ABCD 5");
    await out("shopt -u extglob");
    expect(await out("shopt -q extglob || echo off")).toBe("off");
  });

  test("exported functions", async () => {
    const { out } = await newSession(wire);
    await out("hello() { echo hello $1; }; export -f hello");
    expect(await out("bash -c 'hello child'")).toBe("hello child");
  });

  test("a state of several megabytes", async () => {
    const { out } = await newSession(wire);
    await out("big=$(head -c 3000000 /dev/zero | tr '\\0' x)");
    expect(await out("echo ${#big}")).toBe("3000000");
  });
});

for (const shell of all)
  needsShell(shell).describe(`${shell} is not wedged by`, () => {
    const survives = async (command: string, exitCode?: number, keepsChange = true) => {
      const { run, out } = await newSession(wire, { shell });
      await run("before=1; cd /usr");
      const result = await run(`after=1; cd /etc\n${command}`);
      if (exitCode !== undefined) expect(result.exit_code).toBe(exitCode);
      expect(await out('set +e; echo "$before ${after-none}"; pwd')).toBe(
        keepsChange ? "1 1\n/etc" : "1 none\n/usr",
      );
      return result;
    };

    test("exit", () => survives("exit 3", 3));
    test("set -e", () => survives("set -e; false; echo not reached", 1));
    test("exec", () => survives("exec sh -c 'exit 5'", 5, false));
    test("an unclosed here-document", () => survives("cat <<EOF\ntext"));
    test("kill -9 $$", async () => {
      const result = await survives("kill -9 $$", 137, false);
      expect(result).toMatchObject({ signal: "SIGKILL", reason: "signal" });
    });
    test("closed descriptors", () => survives("exec 0<&- 1>&- 2>&-"));
    test("descriptors 3 to 9 taken or closed", () =>
      survives("exec 3>/dev/null 4</dev/null 5>&1 6>&2 7>/dev/null 8>&- 9>&-; echo x >&3"));
    test("IFS, set -u, set -f and noclobber", () => survives("IFS=/etcabo; set -ufC"));
    test("an EXIT trap, alone", async () => {
      expect((await survives("trap 'echo bye' EXIT")).stdout).toBe("bye\n");
    });
    test("an EXIT trap that exits", async () => {
      expect((await survives("trap 'echo bye; exit 9' EXIT; exit 4", 9)).stdout).toBe("bye\n");
    });
    test("a trap for another signal that exits", async () => {
      expect((await survives("trap 'echo bye; exit 0 ' TERM; echo hi")).stdout).toBe("hi\n");
      expect((await survives("trap -- 'echo bye; exit' TERM 0")).stdout).toBe("bye\n");
    });
    test("an EXIT trap in a subshell", async () => {
      expect((await survives("(trap 'echo sub' EXIT; after=wrong); echo main")).stdout).toBe("sub\nmain\n");
    });
    test("a file size limit", () => survives("ulimit -f 0; trap 2>/dev/null", undefined, false));

    test("an unclosed quote or a syntax error", async () => {
      const { run, out } = await newSession(wire, { shell });
      await run("x=1");
      for (const broken of ['echo "unclosed', "if true; then", "echo )", "case x in"]) {
        const result = await run(broken);
        expect(result.exit_code).not.toBe(0);
        expect(result.stderr).not.toBe("");
      }
      expect(await out("echo $x")).toBe("1");
    });

    test("set -n", async () => {
      const { run, out } = await newSession(wire, { shell });
      await run("set -n");
      expect(await out("echo alive")).toBe("alive");
    });

    test("a timeout in the middle of a cd, which changes nothing", async () => {
      const session = await newSession(wire, { shell });
      await session.run("cd /usr");
      const error = await wire.fail("exec.run", {
        session_id: session.id,
        command: "cd /etc; echo partial; sleep 100",
        timeout_s: 0.3,
      });
      expect(error.code).toBe("COMMAND_TIMEOUT");
      expect(error.data).toMatchObject({ timed_out: true, stdout: "partial\n", reason: "timeout" });
      expect(await session.out("pwd")).toBe("/usr");
    });

    test("a directory that was removed", async () => {
      const { out, run } = await newSession(wire, { shell, working_dir: daemon.dir });
      await out("mkdir -p lost && cd lost && rmdir ../lost");
      expect((await run("touch x")).exit_code).not.toBe(0);
      expect(await out("cd /; pwd")).toBe("/");
      expect(await out("pwd")).toBe("/");
      rmSync(`${daemon.dir}/lost`, { recursive: true, force: true });
    });
  });

describe("nothing of the machinery shows", () => {
  for (const shell of rich)
    needsShell(shell).test(`in ${shell}'s set -x`, async () => {
      const { run } = await newSession(wire, { shell });
      const first = await run("set -x; echo hi");
      expect(first.stderr.replaceAll(/\/\S*\//g, "")).toBe(
        shell === "bash" ? "+ echo hi\n" : "+zsh:1> echo hi\n",
      );
      const second = await run("echo again");
      expect(second.stderr.replaceAll(/\/\S*\//g, "")).toBe(
        shell === "bash" ? "+ echo again\n" : "+zsh:1> echo again\n",
      );
    });

  test("to bash's ERR and DEBUG traps", async () => {
    const { run } = await newSession(wire);
    expect((await run("trap 'echo ERR' ERR; false")).stdout).toBe("ERR\n");
    expect((await run("trap 'echo DBG' DEBUG; true")).stdout).toBe("DBG\n");
  });

  for (const shell of all)
    needsShell(shell, "linux").test(
      `to programs that ${shell} starts: three descriptors, no extra variables`,
      async () => {
        const { out } = await newSession(wire, {
          shell,
          inherit_env: "none",
          env: { PATH: "/usr/bin:/bin", ONE: "1" },
        });
        await out(":");
        expect(await out("ls /proc/self/fd")).toBe("0\n1\n2\n3"); // 3 is ls's own
        const names = (await out("env")).split("\n").map((line) => line.split("=")[0]!);
        const expected = ["ONE", "PATH", "TRL_SESSION_ID", "TRL_COMMAND_ID", "TRL_DAEMON"];
        const ownOfShell = ["PWD", "OLDPWD", "SHLVL", "_", "LOGNAME", "HOME", "TERM"];
        expect(names.filter((name) => !ownOfShell.includes(name)).sort()).toEqual(expected.sort());
      },
    );

  for (const shell of all)
    needsShell(shell).test(`to /dev/stdout, /dev/stderr and /dev/stdin in ${shell}`, async () => {
      const { run } = await newSession(wire, { shell });
      const result = await run("echo o >/dev/stdout; echo e >/dev/stderr; cat /dev/stdin", { stdin: "in" });
      expect(result).toMatchObject({ stdout: "o\nin", stderr: "e\n", exit_code: 0 });
    });
});

describe("and neither", () => {
  test("does bash's list of traps show the hook", async () => {
    const { run } = await newSession(wire);
    expect((await run("trap -p")).stdout).toBe("");
    const listed = await run("trap 'echo \"bye\"' EXIT; trap -p EXIT; trap 'echo i' INT; trap");
    expect(listed.stdout).toBe(
      "trap -- 'echo \"bye\"' EXIT\ntrap -- 'echo \"bye\"' EXIT\ntrap -- 'echo i' SIGINT\nbye\n",
    );
  });

  for (const shell of all)
    needsShell(shell).test(
      `does a directory given for one command confuse what comes after it in ${shell}`,
      async () => {
        const { out } = await newSession(wire, { shell });
        await out("cd /tmp");
        await out("true", { working_dir: "/usr/lib" });
        await out("cd /usr/lib");
        expect(await out("pwd")).toBe("/usr/lib");
      },
    );

  test("is one lost when its directory is removed and made again", async () => {
    const { out } = await newSession(wire, { working_dir: daemon.dir });
    await out("mkdir -p again && cd again");
    const other = await newSession(wire, { working_dir: daemon.dir });
    await other.out("rmdir again && mkdir again && touch again/new");
    expect(await out("ls")).toBe("new");
    await out("cd .. && mkdir up && cd up && rmdir ../up");
    await out("cd ..");
    expect(await out("pwd")).toBe(daemon.dir);
  });
});

for (const shell of all)
  needsShell(shell).describe(`${shell} is not led astray`, () => {
    test("by places whose names are prefixes of its own files", async () => {
      const { out } = await newSession(wire, { shell });
      for (const place of ["/dev", "/dev/shm", "/"]) {
        await out(`cd ${place}`);
        expect(await out("pwd")).toBe(place);
      }
    });

    test("by a directory whose name is not UTF-8", async () => {
      const { out } = await newSession(wire, { shell, working_dir: daemon.dir });
      await out('d=$(printf \'x\\377y\'); mkdir -p "$d"; cd "$d"; touch here');
      expect(await out("ls")).toBe("here");
    });

    test("by one that cannot be entered: nothing runs, and it stays where it was", async () => {
      const { out, run } = await newSession(wire, { shell, working_dir: daemon.dir });
      await out("cd /usr");
      const elsewhere = await run("pwd", { working_dir: "/dev/shm" });
      expect(elsewhere.stdout).toBe("/dev/shm\n");
      expect(await out("pwd")).toBe("/usr");
    });

    needs("linux").test("by aliases and functions of the machinery's words", async () => {
      const { out } = await newSession(wire, { shell });
      await out(
        "cd /usr; umask() { echo no; }; alias exec='echo no' command='echo no' builtin='echo no' return='echo no'",
      );
      expect(await out("pwd; ls /proc/self/fd")).toBe("/usr\n0\n1\n2\n3");
    });
  });

describe("and the rest of the state survives", () => {
  test("a function that bash cannot read again", async () => {
    const { out } = await newSession(wire);
    await out(
      "shopt -s extglob\nf() { case $1 in @(a|b)) echo matched;; esac; }\nshopt -u extglob; cd /usr; x=1",
    );
    expect(await out("pwd; echo $x; type -t f; shopt -q extglob || echo off")).toBe("/usr\n1\nfunction\noff");
    await out("function a=b { :; }; cd /etc");
    expect(await out("pwd; echo $x")).toBe("/etc\n1");
    const broken = await newSession(wire, { env: { "BASH_FUNC_x%%": "() { broken" }, working_dir: "/usr" });
    expect(await broken.out("pwd")).toBe("/usr");
  });

  needs("zsh").test("a read-only variable of zsh in a command's env", async () => {
    const { out, run } = await newSession(wire, { shell: "zsh" });
    await run("readonly R=1");
    await run("NEW=kept; cd /etc", { env: { R: "5", S: "6" } });
    expect(await out("echo $NEW ${S-none}; pwd")).toBe("kept none\n/etc");
  });

  test("bash's set -k, IFS of digits, and a lower-case exit trap", async () => {
    const { out, run } = await newSession(wire);
    await out("set -k");
    expect(await out("echo hi")).toBe("hi");
    await run("set +k; IFS=1; exit 11");
    expect(await out("echo $#")).toBe("0");
    expect((await run("trap 'echo low' exit; X=66; exit 2")).stdout).toBe("low\n");
    expect(await out("echo $X")).toBe("66");
  });
});

describe("stateless sessions", () => {
  test("forget, as claw_core's did", async () => {
    const session = await newSession(wire, { stateful: false, working_dir: "/usr" });
    await session.run("cd /etc; x=1");
    expect(await session.out("pwd; echo ${x-none}")).toBe("/usr\nnone");
    const info = await wire.call("session.info", { session_id: session.id });
    expect(info.stateful).toBe(false);
  });

  needs("python3").test("run any program that takes -c, such as python3", async () => {
    const python = await newSession(wire, { shell: "python3" });
    expect(await python.out("import sys; print(sys.stdin.read() + '!')", { stdin: "hi" })).toBe("hi!");
  });

  needs("fish").test("run a shell whose state cannot be kept, such as fish", async () => {
    const fish = await newSession(wire, { shell: "fish" });
    expect(await fish.out("set x 5; echo $x; cd /usr; pwd")).toBe("5\n/usr");
    const info = await wire.call("session.info", { session_id: fish.id });
    expect(info.stateful).toBe(false);
  });
});

test("a large script of many lines runs as it is", async () => {
  const { out } = await newSession(wire);
  const lines = Array.from({ length: 20_000 }, (_, i) => `n=$((n + ${i % 3}))`);
  expect(await out(`n=0\n${lines.join("\n")}\necho $n`)).toBe("19999");
  writeFileSync(`${daemon.dir}/lib.sh`, "trap 'echo cleaned' EXIT; sourced=yes\n");
  expect(await out(`. ${daemon.dir}/lib.sh; cd /usr`)).toBe("cleaned");
  expect(await out("echo $sourced; pwd")).toBe("yes\n/usr");
});

needs("zsh").describe("zsh", () => {
  test("is given what is for one command, beside what is read-only or of another kind", async () => {
    const { out } = await newSession(wire, { shell: "zsh" });
    await out("typeset -r r=old; a=(1 2); typeset -i i=3; typeset -u u=up; typeset -A h; h[k]=w");
    const env = { r: "x", a: "y", i: "abc", u: "low", h: "z", PATH: "/usr/bin:/bin", b: "B" };
    expect(await out("printenv a i u h b; w=1; echo $r", { env })).toBe("y\nabc\nlow\nz\nB\nold");
    expect(await out("typeset -p r i; echo $a[2] $h[k] $u $w; u=low; echo $u $+b")).toBe(
      "typeset -r r=old\ntypeset -i i=3\n2 w UP 1\nLOW 0",
    );
  });

  test("keeps its state where a command makes constant what it was given", async () => {
    const { out } = await newSession(wire, { shell: "zsh" });
    await out("x=old; a=(1 2)");
    await out("readonly x a n; y=1", { env: { x: "given", a: "given", n: "given", b: "given" } });
    expect(await out("echo $x $a[2] $+n $+b $y; x=2; n=3; echo $x $n; env | grep -c given; :")).toBe(
      "old 2 0 0 1\n2 3\n0",
    );
  });

  test("does not have again what it has unset, where a command is given that and makes it constant", async () => {
    const { out } = await newSession(wire, { shell: "zsh", env: { x: "first", LANG: "C" } });
    await out("unset x LANG");
    await out("readonly x LANG; y=1", { env: { x: "given", LANG: "C.UTF-8" } });
    expect(await out("echo $+x $+LANG $y; printenv x LANG; :")).toBe("0 0 1");
  });

  test("takes names of any length for one command", async () => {
    const { run } = await newSession(wire, { shell: "zsh" });
    const long = "n".repeat(300);
    await run(`${long}=old; cd /`);
    expect(await run(`printenv ${long}; w=1`, { env: { [long]: "x" } })).toMatchObject({
      stdout: "x\n",
      stderr: "",
    });
    expect((await run(`echo $${long} $w`)).stdout).toBe("old 1\n");
  });

  test("keeps functions that are handlers", async () => {
    const { out } = await newSession(wire, { shell: "zsh" });
    await out(`TRAPUSR1() { echo "it's $1" }; TRAPCHLD() { : }; w=1`);
    expect(await out("kill -USR1 $$; echo $w $+functions[TRAPCHLD]; functions TRAPUSR1")).toBe(
      `it's 10\n1 1\nTRAPUSR1 () {\n\techo "it's $1"\n}`,
    );
  });

  for (const options of ["emulate sh", "setopt sh_glob", "setopt ignore_braces", "setopt ksh_arrays"]) {
    test(`is given what is for one command with ${options}`, async () => {
      const { out, run } = await newSession(wire, { shell: "zsh" });
      await out(`v=old; a=(1 2); ${options}; setopt err_exit`);
      const env = { v: "x", a: "y", b: "it's", gone: null, path: "no", HISTSIZE: "1 b" };
      const command = 'printenv v a b; w=1; [ -n "$TRL_COMMAND_ID" ]; false; echo not';
      expect(await run(command, { env })).toMatchObject({ stdout: "x\ny\nit's\n", exit_code: 1 });
      expect(await out("echo $v $w; unsetopt err_exit")).toBe("old 1");
    });
  }
});

test("sh does not keep as constant what a command was given and made that", async () => {
  const { out } = await newSession(wire, { shell: "sh" });
  await out("x=old; k=1; readonly k");
  await out("readonly x n; y=1", { env: { x: "given", n: "given", k: "given" } });
  expect(await out("echo $x $y $k; x=2; n=3; echo $x $n; (k=2) 2>/dev/null || echo constant")).toBe(
    "old 1 1\n2 3\nconstant",
  );
});
