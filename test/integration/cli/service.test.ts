import { expect } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { install, uninstall } from "../../../src/cli/service/actions.ts";
import { launchd } from "../../../src/cli/service/launchd.ts";
import { startDaemon } from "../../support/daemon.ts";
import { type FakeManagers, fakeManagers } from "../../support/fake-managers.ts";
import { expectGolden } from "../../support/golden.ts";
import { needs } from "../../support/needs.ts";
import { isAlive } from "../../support/processes.ts";
import { binary } from "../../support/program.ts";
import { trl } from "../../support/trl.ts";
import { until } from "../../support/wait.ts";

const unitOf = ({ home }: FakeManagers) => join(home, ".config/systemd/user/trl.service");
const service = ({ env }: FakeManagers, ...words: string[]) => trl(["service", ...words], { env });

/** As a unit has it. */
const unitBinary = binary.includes(" ") ? `"${binary}"` : binary;

/** What differs from machine to machine. */
const withoutPlaces = (text: string, { home, env }: FakeManagers) =>
  text
    .replaceAll(unitBinary, "/opt/trl")
    .replace(env["PATH"]!, "/bin:/usr/bin")
    .replaceAll(home, "/home/me")
    .replace(/(?:Environment=BUN_JSC_(?:useConcurrentJIT|numberOfGCMarkers)=.*\n)+/, ""); // where processes are few

needs("linux").test("install, status and uninstall, with systemd", async () => {
  using fake = fakeManagers();
  expect(service(fake, "status")).toMatchObject({ code: 69, err: "" });

  const installed = service(fake, "install", "--json", "--", "--max-sessions", "5");
  expect(installed).toMatchObject({ code: 0, err: "" });
  const status = JSON.parse(installed.out);
  expect(status).toMatchObject({ manager: "systemd", installed: true, enabled: true, active: true });
  expect(status).toMatchObject({ path: unitOf(fake), socket: fake.socketPath });
  expect(status.notes).toEqual([expect.stringContaining("loginctl enable-linger")]);
  await expectGolden("service/trl.service", withoutPlaces(readFileSync(unitOf(fake), "utf8"), fake));
  expect(fake.asked().filter((line) => /reload|able /.test(line))).toEqual([
    "systemctl --user daemon-reload",
    "systemctl --user enable --now trl.service",
  ]);
  expect(JSON.parse(trl(["stats", "--json"], { env: fake.env }).out).pid).toBe(status.pid);

  const shown = service(fake, "status");
  expect(shown.code).toBe(0);
  expect(shown.out).toContain(`active     yes, pid ${status.pid}\nsocket     ${fake.socketPath}\n`);

  const again = service(fake, "install", "--json", "--", "--max-sessions", "6");
  expect(JSON.parse(again.out)).toMatchObject({
    pid: status.pid,
    notes: [expect.stringContaining("restart")],
  });
  expect(readFileSync(unitOf(fake), "utf8")).toContain("--max-sessions 6");

  expect(service(fake, "uninstall")).toMatchObject({ code: 0, out: "" });
  expect(existsSync(unitOf(fake))).toBe(false);
  expect(fake.asked().slice(-2)).toEqual([
    "systemctl --user disable --now trl.service",
    "systemctl --user daemon-reload",
  ]);
  expect(service(fake, "uninstall")).toMatchObject({ code: 0, err: "trl: the service is not installed\n" });
  expect(JSON.parse(service(fake, "uninstall", "--json").out)).toEqual({ removed: null });
});

needs("linux").test("--dry-run changes nothing and asks nobody", () => {
  using fake = fakeManagers();
  const { code, out } = service(fake, "install", "--dry-run", "--", "--http", "127.0.0.1:9100");
  expect(code).toBe(0);
  expect(out).toContain(
    `ExecStart=${unitBinary} serve --socket-path ${fake.socketPath} --http 127.0.0.1:9100\n`,
  );
  expect(out).toEndWith("  systemctl --user daemon-reload\n  systemctl --user enable --now trl.service\n");
  expect(fake.asked()).toEqual([]);
  expect(existsSync(join(fake.home, ".config"))).toBe(false);

  service(fake, "install");
  const asked = fake.asked().length;
  const end = service(fake, "uninstall", "--dry-run");
  expect(end.out).toContain(`disable --now trl.service\n  rm ${unitOf(fake)}\n`);
  expect(fake.asked()).toHaveLength(asked);
  expect(existsSync(unitOf(fake))).toBe(true);
});

needs("linux").test("what somebody else has written stays, unless it is forced", () => {
  using fake = fakeManagers();
  service(fake, "install");
  service(fake, "uninstall");
  writeFileSync(unitOf(fake), "[Service]\nExecStart=/bin/true\n");
  for (const action of ["install", "uninstall"]) {
    const refused = service(fake, action);
    expect(refused).toMatchObject({ code: 64, out: "" });
    expect(refused.err).toContain("--force");
    expect(readFileSync(unitOf(fake), "utf8")).toBe("[Service]\nExecStart=/bin/true\n");
  }
  expect(service(fake, "install", "--force").code).toBe(0);
  expect(readFileSync(unitOf(fake), "utf8")).toContain(binary);
});

needs("linux").test("without a session of systemd, the file is there and the rest is said", () => {
  using fake = fakeManagers();
  writeFileSync(join(fake.home, "no-session"), "");
  const refused = service(fake, "install", "--json");
  expect(refused).toMatchObject({ code: 69, out: "" });
  const { code, message, hint } = JSON.parse(refused.err).error;
  expect(code).toBe("UNSUPPORTED");
  expect(message).toContain(`${unitOf(fake)} was written`);
  expect(hint).toContain("systemctl --user enable --now trl.service");
  expect(existsSync(unitOf(fake))).toBe(true);
  expect(service(fake, "uninstall").code).toBe(0);
  expect(existsSync(unitOf(fake))).toBe(false);
});

needs("linux").test("a daemon that is there already is left alone", async () => {
  using fake = fakeManagers();
  await using daemon = await startDaemon();
  const { code, out } = service(fake, "install", "--socket-path", daemon.socketPath, "--json");
  expect(code).toBe(0);
  expect(JSON.parse(out).notes).toEqual([expect.stringContaining("another daemon listens")]);
  expect(fake.asked()).toContain("systemctl --user enable trl.service");
  expect(fake.asked().join()).not.toContain("--now");
});

needs("linux").test("what goes wrong is told: the manager, the flags, the words", () => {
  using fake = fakeManagers();
  writeFileSync(join(fake.home, "fails"), "");
  const failed = service(fake, "install");
  expect(failed).toMatchObject({ code: 69, out: "" });
  expect(failed.err).toContain("enable --now trl.service failed: Job failed. See the log.");
  expect(service(fake, "install", "--", "--max-sesions", "3").err).toContain("--max-sessions?");
  expect(service(fake, "install", "--", "--env-file", "here.env").err).toContain("absolute path");
  expect(service(fake, "restart")).toMatchObject({ code: 64 });
  expect(service(fake)).toMatchObject({ code: 64 });
});

needs("linux").test("launchd: install twice, again after a stop, and right after an uninstall", async () => {
  using fake = fakeManagers();
  const manager = launchd({ home: fake.home, uid: 501, env: fake.env });
  const plan = (serveFlags: string[]) => ({
    ...{ program: [binary], serveFlags, socketPath: fake.socketPath, environment: {} },
  });
  const pidFile = join(fake.home, "pid");
  const first = await install(manager, plan([]), false);
  expect(first).toMatchObject({ installed: true, enabled: true, active: true, notes: [] });

  const second = await install(manager, plan(["--max-sessions", "5"]), false);
  expect(second.pid).toBe(first.pid);
  expect(second.notes.join()).toContain("launchctl bootout gui/501/trl; for i in ");

  process.kill(first.pid!);
  await until("the end of the daemon", () => !isAlive(first.pid!) && !existsSync(fake.socketPath));
  rmSync(pidFile); // launchd still knows the job
  expect(await manager.state()).toMatchObject({ isEnabled: true, isActive: false });
  const third = await install(manager, plan([]), false);
  expect(third).toMatchObject({ active: true });
  expect(third.pid).not.toBe(first.pid);

  expect(await uninstall(manager, false)).toBe(true);
  expect(await install(manager, plan([]), false)).toMatchObject({ active: true });
  const loads = fake.asked().filter((line) => line.startsWith("launchctl bootstrap"));
  expect(loads.length).toBe(1 + 3 + 3); // after a bootout the fake refuses two, as launchd does
  await uninstall(manager, false);
});
