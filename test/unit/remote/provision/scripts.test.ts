// The scripts for the far side, in the shells that people have there.
import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  connectScript,
  copyScript,
  type RemoteExecutable,
} from "../../../../src/remote/provision/scripts.ts";
import { needs } from "../../../support/needs.ts";
import { sha256 } from "../../../support/stream.ts";
import { tempDir } from "../../../support/temp-dir.ts";

/** Stands for the program: says how it was called. */
const program = "#!/bin/sh\necho called: $0 $*\n";
const asksForTrust = "#!/bin/sh\necho ${TRL_TRUSTED_DIRS-none}\n";
const executable: RemoteExecutable = {
  target: `linux-${process.arch}`,
  sha256: sha256(program),
  key: "1.2.3-abcdef",
};
const connecting = {
  mark: "MARK",
  executables: [executable],
  socketPath: undefined,
  merelyLooks: false,
  isContainer: false,
  serveFlags: ["--idle-exit-s", "5"],
};

function there() {
  const dir = tempDir();
  const at = (name: string) => join(dir.path, name);
  mkdirSync(at("home"));
  const env = { PATH: process.env["PATH"]!, HOME: at("home"), TRL_RUNTIME_DIR: at("run") };
  return {
    at,
    build: at("home/.cache/trl/1.2.3-abcdef"),
    run(argv: string[], input: string | Uint8Array = "", more: Record<string, string> = {}) {
      const { stdout, stderr } = Bun.spawnSync(argv, { stdin: Buffer.from(input), env: { ...env, ...more } });
      return `${stdout}${stderr}`;
    },
    [Symbol.dispose]: dir[Symbol.dispose],
  };
}

const copying = { mark: "MARK", nonce: "n", executable, isCompressed: false };
const sh = (script: string) => ["sh", "-c", script];

describe("the user's own shell is of no account:", () => {
  const shells = { sh: [], bash: [], dash: ["dash"], zsh: ["zsh"], fish: ["fish"], tcsh: ["tcsh"] } as const;
  for (const [shell, required] of Object.entries(shells))
    needs(...required).test(shell, () => {
      using far = there();
      const login = (script: string, input = "") => far.run([shell, "-c", `exec sh -c '${script}'`], input);
      expect(login(connectScript(connecting))).toBe(`MARK need ${executable.target} gzip\n`);
      expect(login(copyScript(copying), program)).toBe("MARK copied\n");
      expect(login(connectScript(connecting))).toBe(
        `called: ${far.build}/trl dial-stdio --socket-path ${far.at("run")}/1.2.3-abcdef.sock --hang-up` +
          ` --greeting MARK ready -- --runtime-dir ${far.at("run")} --run-dir ${far.at("run")} --idle-exit-s 5\n`,
      );
    });

  needs("busybox").test("and so is which sh is there, such as busybox's", () => {
    using far = there();
    const busybox = (script: string, input = "") => far.run(["busybox", "sh", "-c", script], input);
    expect(busybox(copyScript(copying), program)).toBe("MARK copied\n");
    expect(busybox(connectScript(connecting))).toContain("called: ");
  });
});

describe("the copy", () => {
  test("may be compressed", () => {
    using far = there();
    const packed = Bun.gzipSync(Buffer.from(program));
    expect(far.run(sh(copyScript({ ...copying, isCompressed: true })), packed)).toBe("MARK copied\n");
    expect(readFileSync(join(far.build, "trl"), "utf8")).toBe(program);
  });

  test("that does not arrive whole is none", () => {
    using far = there();
    expect(far.run(sh(copyScript(copying)), program.slice(0, -5))).toBe("MARK damaged\n");
    expect(readdirSync(far.build)).toEqual([]);
    expect(far.run(sh(copyScript({ ...copying, isCompressed: true })), "no gzip")).not.toContain("copied");
    expect(readdirSync(far.build)).toEqual([]);
  });

  test("goes where programs may be run, or it is said that there is no such place", () => {
    using far = there();
    writeFileSync(far.at("home/.cache"), "");
    expect(far.run(sh(copyScript(copying)), program)).toBe("MARK copied\n");
    expect(far.run(sh(connectScript(connecting)))).toContain(`called: ${far.at("run")}/bin/1.2.3-abcdef/trl`);
    symlinkSync("/tmp", far.at("link")); // somebody's trap
    expect(far.run(sh(copyScript(copying)), program, { TRL_RUNTIME_DIR: far.at("link") })).toBe(
      `MARK refused neither ${far.at("home")}/.cache/trl nor ${far.at("link")} can hold a program that may be run\n`,
    );
  });

  test("cannot be checked without a tool for it", () => {
    using far = there();
    mkdirSync(far.at("bin"));
    for (const tool of ["sh", "id", "mkdir", "chmod", "cat", "rm", "mv"])
      symlinkSync(Bun.which(tool)!, far.at(`bin/${tool}`));
    expect(far.run(sh(copyScript(copying)), program, { PATH: far.at("bin") })).toBe(
      "MARK refused there is neither sha256sum nor shasum nor openssl\n",
    );
  });
});

describe("who connects", () => {
  test("does not trust a program that is another, and asks for it again", () => {
    using far = there();
    far.run(sh(copyScript(copying)), program);
    writeFileSync(join(far.build, "trl"), "#!/bin/sh\necho I am another\n");
    expect(far.run(sh(connectScript(connecting)))).toBe(`MARK need ${executable.target} gzip\n`);
    chmodSync(join(far.build, "trl"), 0o600);
    expect(far.run(sh(connectScript(connecting)))).toBe(`MARK need ${executable.target} gzip\n`);
  });

  test("and merely looks hears that nobody is there", () => {
    using far = there();
    const looking = connectScript({ ...connecting, merelyLooks: true });
    expect(far.run(sh(looking))).toBe("MARK nobody\n");
    far.run(sh(copyScript(copying)), program);
    expect(far.run(sh(looking))).toBe("MARK nobody\n");
  });

  test("does not use a directory that is not the user's", () => {
    using far = there();
    far.run(sh(copyScript(copying)), program);
    symlinkSync(far.at("home"), far.at("link"));
    expect(far.run(sh(connectScript(connecting)), "", { TRL_RUNTIME_DIR: far.at("link") })).toBe(
      `MARK refused ${far.at("link")} is not a directory of this user\n`,
    );
  });

  test("may name the socket, in characters that mean nothing to a shell", () => {
    using far = there();
    far.run(sh(copyScript(copying)), program);
    const named = connectScript({ ...connecting, socketPath: "/run/trl/a-b.sock" });
    expect(far.run(sh(named))).toContain("--socket-path /run/trl/a-b.sock");
    for (const socketPath of ["/tmp/$(id)", "/tmp/a b", "/tmp/'", '/tmp/"', "/tmp/;x", "/tmp/\n"])
      expect(() => connectScript({ ...connecting, socketPath })).toThrow("cannot be passed on");
  });

  test("trusts /tmp and the directory of a named socket in a container, unless it says which", () => {
    using far = there();
    const says = { ...executable, sha256: sha256(asksForTrust) };
    far.run(sh(copyScript({ ...copying, executable: says })), asksForTrust);
    const trusted = (more: object, env = {}) =>
      far.run(sh(connectScript({ ...connecting, executables: [says], ...more })), "", env);
    expect(trusted({})).toBe("none\n");
    expect(trusted({ isContainer: true })).toBe("/tmp\n");
    expect(trusted({ isContainer: true, socketPath: "/run/trl/a.sock" })).toBe("/tmp:/run/trl\n");
    expect(trusted({ isContainer: true }, { TRL_TRUSTED_DIRS: "/data" })).toBe("/data\n");
  });

  test("is told the name of a machine that is not known", () => {
    using far = there();
    mkdirSync(far.at("bin"));
    writeFileSync(far.at("bin/uname"), "#!/bin/sh\necho FreeBSD riscv64\n", { mode: 0o755 });
    const path = `${far.at("bin")}:${process.env["PATH"]}`;
    expect(far.run(sh(connectScript(connecting)), "", { PATH: path })).toBe(
      "MARK need FreeBSD-riscv64 gzip\n",
    );
  });
});
