import { describe, expect, test } from "bun:test";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { launchd, plistText } from "../../../../src/cli/service/launchd.ts";
import { markerOf, readMarker, type ServicePlan } from "../../../../src/cli/service/manager.ts";
import { systemd, unitText } from "../../../../src/cli/service/systemd.ts";
import { fakeManagers } from "../../../support/fake-managers.ts";
import { expectGolden } from "../../../support/golden.ts";
import { needs } from "../../../support/needs.ts";
import { tempDir } from "../../../support/temp-dir.ts";

const nasty = "/tmp/a b%h $HOME ${x} \"q\" 'r' \\n <&> -- ü\ttab";
const plan: ServicePlan = {
  program: ["/opt/my tools/100% $ü/trl"],
  serveFlags: ["--socket-path", nasty],
  socketPath: nasty,
  environment: { PATH: "/usr/bin:/opt/50% off/$bin", BUN_JSC_useConcurrentJIT: "0" },
};

describe("systemd", () => {
  test("a unit with everything that needs quoting", () =>
    expectGolden("service/quoted.service", unitText(plan)));

  test("words are read back as they were", () => {
    const line = /^ExecStart=(.*)$/m.exec(unitText(plan))![1]!;
    expect(readAsSystemd(line)).toEqual([...plan.program, "serve", "--socket-path", nasty]);
  });

  test("a program that systemd would refuse is refused here", () => {
    expect(() => unitText({ ...plan, program: ['/opt/"x"/trl'] })).toThrow("quote");
  });

  needs("systemd-analyze").test("the unit is one, by systemd's own word", () => {
    using dir = tempDir();
    const program = join(dir.path, "my tools/100% $ü/trl");
    mkdirSync(join(program, ".."), { recursive: true });
    copyFileSync("/bin/true", program);
    chmodSync(program, 0o755);
    const file = join(dir.path, "trl.service");
    const verify = (text: string) => {
      writeFileSync(file, text);
      const env = { ...process.env, HOME: dir.path, XDG_RUNTIME_DIR: dir.path };
      const { exitCode, stderr } = Bun.spawnSync(["systemd-analyze", "--user", "verify", file], {
        env,
        stdin: "ignore",
      });
      return { exitCode, said: stderr.toString() };
    };
    const text = unitText({ ...plan, program: [program] });
    expect(verify(text)).toEqual({ exitCode: 0, said: "" });
    expect(verify(text.replace("my tools", "my tool")).exitCode).not.toBe(0);
  });

  test("the unit is in the directory of the XDG specification", () => {
    const file = (config: string) =>
      systemd({ home: "/home/me", uid: 7, env: { XDG_CONFIG_HOME: config } }).file;
    expect(file("/etc/mine")).toBe("/etc/mine/systemd/user/trl.service");
    expect(file("relative")).toBe("/home/me/.config/systemd/user/trl.service");
    expect(file("")).toBe("/home/me/.config/systemd/user/trl.service");
  });
});

describe("launchd", () => {
  const places = { home: "/Users/me & you", log: "/Users/me & you/Library/Logs/trl.log" };

  test("a plist with everything that needs escaping", () =>
    expectGolden("service/quoted.plist", plistText(plan, places)));

  needs("python3").test("the plist is one, by another's word", () => {
    const script = "import plistlib, json, sys; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))";
    const { stdout } = Bun.spawnSync(["python3", "-c", script], {
      stdin: Buffer.from(plistText(plan, places)),
    });
    expect(JSON.parse(stdout.toString())).toMatchObject({
      Label: "trl",
      ProgramArguments: [...plan.program, "serve", "--socket-path", nasty],
      EnvironmentVariables: plan.environment,
      RunAtLoad: true,
      KeepAlive: { SuccessfulExit: false },
      StandardErrorPath: places.log,
    });
  });

  test("what it is asked, and what its answers mean", async () => {
    using fake = fakeManagers();
    const manager = launchd({ home: fake.home, uid: 501, env: fake.env });
    expect(manager.file).toBe(join(fake.home, "Library/LaunchAgents/trl.plist"));
    expect(manager.enableAndStart).toEqual([
      ["launchctl", "enable", "gui/501/trl"],
      ["launchctl", "bootstrap", "gui/501", manager.file],
    ]);
    expect(await manager.whyUnreachable()).toBeUndefined();
    expect(await manager.state()).toEqual({ isEnabled: false, isActive: false, pid: null });
    for (const command of manager.enableAndStart) Bun.spawnSync(command, { env: fake.env });
    const pid = Number(readFileSync(join(fake.home, "pid"), "utf8"));
    expect(await manager.state()).toEqual({ isEnabled: true, isActive: true, pid });
    for (const command of manager.stopAndDisable) Bun.spawnSync(command, { env: fake.env });
    expect(await manager.state()).toMatchObject({ isActive: false });
    const none = launchd({ home: fake.home, uid: 501, env: { PATH: "/nowhere" } });
    expect(await none.whyUnreachable()).toContain("launchctl");
  });
});

test("the marker holds any path", () => {
  expect(readMarker(markerOf(plan))).toEqual({ socket: nasty });
  expect(readMarker("[Service]\n")).toBeUndefined();
  expect(readMarker("# trl-service {broken}")).toBeUndefined();
});

/** systemd.syntax(7) and systemd.service(5), read by themselves: quotes, C escapes, %% and, behind the program, $$. */
function readAsSystemd(line: string): string[] {
  const words = [...line.matchAll(/"((?:\\.|[^"\\])*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare!);
  const unquote = (word: string) =>
    word
      .replaceAll(/\\x([0-9a-f]{2})|\\(.)/g, (_, hex, plain) =>
        hex ? String.fromCharCode(Number.parseInt(hex, 16)) : plain,
      )
      .replaceAll("%%", "%");
  return words.map((word, i) => (i === 0 ? unquote(word) : unquote(word).replaceAll("$$", "$")));
}
