// The remote scripts, in the login shells of remote users.
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

/** Stands in for trl: prints its command line. */
const program = "#!/bin/sh\necho called: $0 $*\n";
const printsTrusted = "#!/bin/sh\necho ${TRL_TRUSTED_DIRS-none}\n";
const executable: RemoteExecutable = {
  target: `linux-${process.arch}`,
  sha256: sha256(program),
  key: "1.2.3-abcdef",
};
const connecting = {
  mark: "MARK",
  executables: [executable],
  socketPath: undefined,
  onlyIfRunning: false,
  isContainer: false,
  serveFlags: ["--idle-exit-s", "5"],
};

function remoteHome() {
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

describe("the scripts work from any login shell:", () => {
  const shells = { sh: [], bash: [], dash: ["dash"], zsh: ["zsh"], fish: ["fish"], tcsh: ["tcsh"] } as const;
  for (const [shell, required] of Object.entries(shells))
    needs(...required).test(shell, () => {
      using remote = remoteHome();
      const login = (script: string, input = "") =>
        remote.run([shell, "-c", `exec sh -c '${script}'`], input);
      expect(login(connectScript(connecting))).toBe(`MARK need ${executable.target} gzip\n`);
      expect(login(copyScript(copying), program)).toBe("MARK copied\n");
      expect(login(connectScript(connecting))).toBe(
        `called: ${remote.build}/trl dial-stdio --socket-path ${remote.at("run")}/1.2.3-abcdef.sock --hang-up` +
          ` --greeting MARK ready -- --runtime-dir ${remote.at("run")} --run-dir ${remote.at("run")} --idle-exit-s 5\n`,
      );
    });

  needs("busybox").test("and with any sh, such as busybox's", () => {
    using remote = remoteHome();
    const busybox = (script: string, input = "") => remote.run(["busybox", "sh", "-c", script], input);
    expect(busybox(copyScript(copying), program)).toBe("MARK copied\n");
    expect(busybox(connectScript(connecting))).toContain("called: ");
  });
});

describe("the copy", () => {
  test("may be compressed", () => {
    using remote = remoteHome();
    const packed = Bun.gzipSync(Buffer.from(program));
    expect(remote.run(sh(copyScript({ ...copying, isCompressed: true })), packed)).toBe("MARK copied\n");
    expect(readFileSync(join(remote.build, "trl"), "utf8")).toBe(program);
  });

  test("that does not arrive whole is none", () => {
    using remote = remoteHome();
    expect(remote.run(sh(copyScript(copying)), program.slice(0, -5))).toBe("MARK damaged\n");
    expect(readdirSync(remote.build)).toEqual([]);
    expect(remote.run(sh(copyScript({ ...copying, isCompressed: true })), "no gzip")).not.toContain("copied");
    expect(readdirSync(remote.build)).toEqual([]);
  });

  test("needs a directory where programs may be executed", () => {
    using remote = remoteHome();
    writeFileSync(remote.at("home/.cache"), "");
    expect(remote.run(sh(copyScript(copying)), program)).toBe("MARK copied\n");
    expect(remote.run(sh(connectScript(connecting)))).toContain(
      `called: ${remote.at("run")}/bin/1.2.3-abcdef/trl`,
    );
    symlinkSync("/tmp", remote.at("link")); // a trap by another user
    expect(remote.run(sh(copyScript(copying)), program, { TRL_RUNTIME_DIR: remote.at("link") })).toBe(
      `MARK refused neither ${remote.at("home")}/.cache/trl nor ${remote.at("link")} can hold a program that may be run\n`,
    );
  });

  test("needs a tool for checksums", () => {
    using remote = remoteHome();
    mkdirSync(remote.at("bin"));
    for (const tool of ["sh", "id", "mkdir", "chmod", "cat", "rm", "mv"])
      symlinkSync(Bun.which(tool)!, remote.at(`bin/${tool}`));
    expect(remote.run(sh(copyScript(copying)), program, { PATH: remote.at("bin") })).toBe(
      "MARK refused there is neither sha256sum nor shasum nor openssl\n",
    );
  });
});

describe("the connect script", () => {
  test("does not trust a program that is another, and asks for it again", () => {
    using remote = remoteHome();
    remote.run(sh(copyScript(copying)), program);
    writeFileSync(join(remote.build, "trl"), "#!/bin/sh\necho I am another\n");
    expect(remote.run(sh(connectScript(connecting)))).toBe(`MARK need ${executable.target} gzip\n`);
    chmodSync(join(remote.build, "trl"), 0o600);
    expect(remote.run(sh(connectScript(connecting)))).toBe(`MARK need ${executable.target} gzip\n`);
  });

  test("reports a missing daemon with onlyIfRunning", () => {
    using remote = remoteHome();
    const finding = connectScript({ ...connecting, onlyIfRunning: true });
    expect(remote.run(sh(finding))).toBe("MARK absent\n");
    remote.run(sh(copyScript(copying)), program);
    expect(remote.run(sh(finding))).toBe("MARK absent\n");
  });

  test("does not use a directory that is not the user's", () => {
    using remote = remoteHome();
    remote.run(sh(copyScript(copying)), program);
    symlinkSync(remote.at("home"), remote.at("link"));
    expect(remote.run(sh(connectScript(connecting)), "", { TRL_RUNTIME_DIR: remote.at("link") })).toBe(
      `MARK refused ${remote.at("link")} is not a directory of this user\n`,
    );
  });

  test("may name the socket, in characters that mean nothing to a shell", () => {
    using remote = remoteHome();
    remote.run(sh(copyScript(copying)), program);
    const named = connectScript({ ...connecting, socketPath: "/run/trl/a-b.sock" });
    expect(remote.run(sh(named))).toContain("--socket-path /run/trl/a-b.sock");
    for (const socketPath of ["/tmp/$(id)", "/tmp/a b", "/tmp/'", '/tmp/"', "/tmp/;x", "/tmp/\n"])
      expect(() => connectScript({ ...connecting, socketPath })).toThrow("cannot be passed on");
  });

  test("trusts /tmp and the socket's directory in a container, unless TRL_TRUSTED_DIRS is set", () => {
    using remote = remoteHome();
    const says = { ...executable, sha256: sha256(printsTrusted) };
    remote.run(sh(copyScript({ ...copying, executable: says })), printsTrusted);
    const trusted = (more: object, env = {}) =>
      remote.run(sh(connectScript({ ...connecting, executables: [says], ...more })), "", env);
    expect(trusted({})).toBe("none\n");
    expect(trusted({ isContainer: true })).toBe("/tmp\n");
    expect(trusted({ isContainer: true, socketPath: "/run/trl/a.sock" })).toBe("/tmp:/run/trl\n");
    expect(trusted({ isContainer: true }, { TRL_TRUSTED_DIRS: "/data" })).toBe("/data\n");
  });

  test("reports the name of an unknown platform", () => {
    using remote = remoteHome();
    mkdirSync(remote.at("bin"));
    writeFileSync(remote.at("bin/uname"), "#!/bin/sh\necho FreeBSD riscv64\n", { mode: 0o755 });
    const path = `${remote.at("bin")}:${process.env["PATH"]}`;
    expect(remote.run(sh(connectScript(connecting)), "", { PATH: path })).toBe(
      "MARK need FreeBSD-riscv64 gzip\n",
    );
  });
});
