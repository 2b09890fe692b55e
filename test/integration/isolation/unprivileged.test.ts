// A daemon that may do little: what it cannot is refused in so many words, and what needs no privilege is done.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, copyFileSync } from "node:fs";
import { join } from "node:path";
import { StdinConnection } from "../../support/carriers/stdin.ts";
import { type Abilities, abilitiesOf, expectRefused } from "../../support/isolation.ts";
import { needs } from "../../support/needs.ts";
import { processesWith } from "../../support/processes.ts";
import { binary } from "../../support/program.ts";
import { isRoot } from "../../support/requirements.ts";
import { newSession } from "../../support/session.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { Wire } from "../../support/wire.ts";

/** As nobody, where the tests are run by root. */
const nobody = "65534";
const asNobody = isRoot
  ? ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups", "--inh-caps=-all"]
  : [];

/** Where everybody can reach it: the project may lie in somebody's home. */
const place = tempDir();
const program = join(place.path, "trl");
chmodSync(place.path, 0o755);
copyFileSync(binary, program);
chmodSync(program, 0o755);

function startAsNobody(flags: string[] = []) {
  const child = Bun.spawn([...asNobody, program, "--stdin", ...flags], {
    cwd: "/",
    env: { PATH: process.env["PATH"], HOME: "/nonexistent", LANG: "C.UTF-8" },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const connection = new StdinConnection({ stdin: child.stdin, stdout: child.stdout });
  return { child, wire: Wire.over(async (events) => (await connection.take(events))!) };
}

let child: Bun.Subprocess;
let wire: Wire;
let abilities: Abilities;

beforeAll(async () => {
  const started = startAsNobody();
  child = started.child;
  wire = await started.wire;
  abilities = await abilitiesOf(wire);
});
afterAll(async () => {
  child.kill("SIGTERM");
  await child.exited;
  place[Symbol.dispose]();
});

test("it says beforehand what it cannot do", () => {
  for (const name of ["memory_bytes", "cpu_percent", "pids"])
    expect(abilities.limits[name]).toEqual({
      available: false,
      reason: expect.stringMatching(/control group/),
      remedy: expect.stringMatching(/./),
    });
  expect(abilities.root).toMatchObject({
    available: false,
    reason: "only root may change the root directory",
  });
});

describe("it refuses, with the reason and the remedy,", () => {
  const asked = [
    { limits: { memory_bytes: 1e8 } },
    { limits: { cpu_percent: 50 } },
    { limits: { pids: 50 } },
    { root: "/" },
  ];
  for (const isolation of asked)
    test(JSON.stringify(isolation), async () => {
      const [limit] = Object.keys(isolation.limits ?? {});
      const ability = limit ? abilities.limits[limit]! : abilities.root;
      await expectRefused(wire, isolation, ability);
      expect((await wire.call("session.list", {})).sessions).toEqual([]);
    });
});

describe("it can", () => {
  test("limit each process, and say so", async () => {
    const isolation = { limits: { cpu_time_s: 1, open_files: 50, file_size_bytes: 4096, wall_clock_s: 30 } };
    const { id, run, out } = await newSession(wire, { isolation });
    const { isolation: told } = await wire.call("session.info", { session_id: id });
    expect(told).toMatchObject({ cgroup: null, limits: { cpu_time_s: { value: 1, by: "rlimit" } } });
    expect(await out("ulimit -Hn")).toBe("50");
    const spun = await run("while :; do :; done", { timeout_s: 0 });
    expect(spun).toMatchObject({
      reason: "cpu_time_limit",
      receipt: { measured_by: "process", limits_hit: ["cpu_time"] },
    });
    expect((await run("ulimit -n 60")).exit_code).not.toBe(0);
    await wire.call("session.destroy", { session_id: id });
  });

  test("not give more than it has", async () => {
    const { code, message } = await wire.fail("session.create", {
      isolation: { limits: { open_files: 2 ** 31 } },
    });
    expect(code).toBe("UNSUPPORTED");
    expect(message).toMatch(/the machine refused what was asked for: .*limit/);
  });

  needs("user namespaces").test("make a sandbox", async () => {
    const isolation = { sandbox: {} };
    const { id, run, out } = await newSession(wire, { isolation });
    expect(await out("x=1; touch /tmp/mine; id -u")).toBe(isRoot ? nobody : `${process.getuid?.()}`);
    expect(await out("ls /tmp; ls /proc | grep -c '^[0-9]'")).toMatch(/^mine\n[3-6]$/);
    expect((await run("touch /var/tmp/trl-test")).stderr).toContain("Read-only file system");
    expect((await run("true")).receipt).toMatchObject({ cpu_ms: null, measured_by: null });
    const seconds = `12345.${process.pid}`; // of this run alone
    await run(`env -i setsid sleep ${seconds} &`);
    await wire.call("session.destroy", { session_id: id });
    expect(processesWith(`sleep ${seconds}`)).toEqual([]);
  });

  test("count processes instead of limiting them", async () => {
    const { child: counting, wire: opened } = startAsNobody(["--session-max-processes", "3"]);
    const client = await opened;
    const { id, run } = await newSession(client);
    expect((await run("sleep 1000 & sleep 1000 &")).exit_code).toBe(0);
    expect((await run("sleep 1000 &")).receipt.leftovers).toBe(1);
    const { code, message } = await client.fail("exec.run", { session_id: id, command: "true" });
    expect(code).toBe("RESOURCE_PRESSURE");
    expect(message).toContain("has 3 processes running, the limit is 3");
    counting.kill("SIGTERM");
    await counting.exited;
  });
});
