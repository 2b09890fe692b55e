// Runtimes from the command line.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { binary } from "../../support/program.ts";
import { tempDir } from "../../support/temp-dir.ts";

let far: TestDaemon;
let front: TestDaemon;
beforeAll(async () => {
  far = await startDaemon();
  front = await startDaemon({ flags: ["--runtime", `far=socket:${far.socketPath}`, "--labels", "desk"] });
});
afterAll(async () => {
  await front[Symbol.asyncDispose]();
  await far[Symbol.asyncDispose]();
});

function trl(words: string[], { socket = front.socketPath, input = "", env = {} } = {}) {
  const { stdout, stderr, exitCode } = Bun.spawnSync([binary, ...words], {
    env: { PATH: process.env["PATH"], HOME: "/nonexistent", TRL_SOCKET_PATH: socket, MINE: "here", ...env },
    stdin: Buffer.from(input),
    cwd: "/usr",
  });
  return { out: stdout.toString(), err: stderr.toString(), code: exitCode };
}

describe("trl runtimes", () => {
  test("lists, adds, checks and removes", () => {
    expect(trl(["runtimes"]).out).toMatch(/^NAME .*\nhost +host .*desk.*\nfar +socket /);
    const added = trl(["runtimes", "add", "twin", `socket:${far.socketPath}`, "--labels", "gpu,big"]);
    expect(added).toMatchObject({ code: 0, out: "" });
    expect(added.err).toContain(`[runtimes.twin]\nkind = "socket"\nlabels = ["gpu","big"]\n`);
    const words = ["runtimes", "add", "bridge", "command", "--", binary, "dial-stdio", "--socket-path"];
    expect(trl([...words, far.socketPath]).code).toBe(0);
    expect(trl(["runtimes", "check", "bridge"]).out).toMatch(
      /^bridge \(command\): trl \S+ on linux \w+, answered in/,
    );
    const { runtimes } = JSON.parse(trl(["runtimes", "--json"]).out);
    expect(runtimes.map((it: { name: string }) => it.name)).toEqual(["host", "far", "twin", "bridge"]);
    for (const name of ["twin", "bridge"]) expect(trl(["runtimes", "remove", name]).code).toBe(0);
  });

  test.each([
    [["runtimes", "frob"], 64, 'there is no "trl runtimes frob"'],
    [["runtimes", "add", "x"], 64, "a name and KIND:TARGET are needed"],
    [["runtimes", "add", "x", "moon"], 64, "is not of the form KIND:TARGET"],
    [["runtimes", "add", "x", "moon:y"], 64, "kind: expected one of"],
    [["runtimes", "remove", "moon"], 66, 'there is no "moon"'],
    [["runtimes", "check"], 64, "one name is needed"],
  ])("%j says what is wrong", (words, code, message) => {
    const told = trl(words);
    expect(told.err).toContain(message);
    expect(told.code).toBe(code);
  });

  test("what it prints for the configuration can be put there", () => {
    using dir = tempDir();
    const { err } = trl(["runtimes", "add", "kept", `socket:${far.socketPath}`, "--labels", "big"]);
    const config = join(dir.path, "config.toml");
    writeFileSync(config, err.slice(err.indexOf("[runtimes.kept]")));
    // Without a daemon, a temporary one is started; it reads the file, too.
    const nobody = join(dir.path, "nobody.sock");
    const ran = trl(["run", "--runtime", "kept", "--", "echo $TRL_DAEMON"], {
      socket: nobody,
      env: { TRL_CONFIG: config },
    });
    expect(ran.out).toBe(`${far.pid}:${far.socketPath}\n`);
    expect(trl(["runtimes", "remove", "kept"]).code).toBe(0);
  });
});

describe("trl run --runtime", () => {
  test("runs it there: output, input, exit code; its directory and environment", () => {
    expect(trl(["run", "--runtime", "far", "--", 'echo "$PWD $MINE"; echo oops >&2; exit 7'])).toEqual({
      out: "/tmp \n",
      err: "oops\n",
      code: 7,
    });
    expect(
      trl(["run", "-i", "--runtime", "far", "--cwd", "/var", "--", "pwd; tr a-z A-Z"], { input: "hi" }).out,
    ).toBe("/var\nHI");
    expect(trl(["run", "--runtime", "host", "--", 'echo "$PWD $MINE"']).out).toBe("/usr here\n");
    expect(trl(["run", "--needs", "desk", "--", "echo $TRL_DAEMON"]).out).toBe(
      `${front.pid}:${front.socketPath}\n`,
    );
  });

  test("keeps a session there, which is found by its name", () => {
    expect(trl(["run", "--runtime", "far", "--session", "work", "--", "x=5; cd /var"]).code).toBe(0);
    expect(trl(["run", "--session", "work", "--", "echo $x $PWD"]).out).toBe("5 /var\n");
    expect(trl(["ls"]).out).toMatch(/ +RUNTIME\n.* work .* far\n/);
    expect(trl(["kill", "work"]).code).toBe(0);
  });

  test("a name that is found nowhere is not taken for a new one here while a place cannot be asked", () => {
    trl(["runtimes", "add", "dead", "socket:/nonexistent"]);
    const refused = trl(["run", "--session", "away", "--", "echo here"]);
    expect(refused).toMatchObject({ code: 69, out: "" });
    expect(refused.err).toContain(
      "the runtime dead cannot be reached: no daemon is listening on /nonexistent",
    );
    expect(refused.err).toContain("--runtime host");
    expect(trl(["ls"]).err).toContain("the runtime dead cannot be reached");
    expect(JSON.parse(trl(["ls", "--json"]).out).unavailable).toMatchObject([{ runtime: "dead" }]);
    expect(trl(["kill", "away"])).toMatchObject({
      code: 66,
      err: expect.stringContaining("the runtime dead cannot be reached"),
    });
    expect(trl(["run", "--session", "away", "--runtime", "host", "--", "echo here"]).out).toBe("here\n");
    expect(trl(["run", "--session", "away", "--", "echo again"]).out).toBe("again\n"); // it is found now
    expect(trl(["kill", "away"]).code).toBe(0);
    trl(["runtimes", "remove", "dead"]);
  });

  test("says what is wrong with the place", () => {
    expect(trl(["run", "--runtime", "moon", "--", "true"])).toMatchObject({
      code: 66,
      err: expect.stringContaining("RUNTIME_NOT_FOUND"),
    });
    expect(trl(["run", "--needs", "tpu", "--", "true"]).code).toBe(66);
    trl(["runtimes", "add", "dead", "socket:/nonexistent"]);
    expect(trl(["run", "--runtime", "dead", "--", "true"])).toMatchObject({
      code: 69,
      err: expect.stringContaining("no daemon is listening on /nonexistent"),
    });
    trl(["runtimes", "remove", "dead"]);
  });
});

test("trl new --runtime makes a terminal there", () => {
  expect(trl(["new", "-d", "--runtime", "far", "desk", "--", "sleep", "600"]).out).toBe("desk\n");
  expect(trl(["ls"]).out).toMatch(/desk .* pty .* sleep 600 .* far\n/);
  expect(trl(["kill", "desk"]).code).toBe(0);
});
