// trl as the `binaryPath` of claw_core's OpenClaw plugin: the plugin's part is played as its launcher does it.
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fencesOf } from "../support/markdown.ts";
import { needs } from "../support/needs.ts";
import { isAlive } from "../support/processes.ts";
import { binary } from "../support/program.ts";
import { tempDir } from "../support/temp-dir.ts";
import { until } from "../support/wait.ts";
import { Wire } from "../support/wire.ts";

// Each waits for what it wants to see; this is for a machine that is busy.
setDefaultTimeout(60_000);

const example = join(import.meta.dir, "../../examples/openclaw");
const readme = readFileSync(join(example, "README.md"), "utf8");

/** What the plugin's manifest allows; anything else is refused by the gateway. */
const pluginSettings = ["binaryPath", "socketPath", "sourcePath", "autoStart"];

function settingsOfReadme(): Record<string, unknown> {
  const [block] = fencesOf(readme).filter(({ language }) => language === "json");
  return JSON.parse(block!.text).plugins.entries["claw-core"].config;
}

/** The gateway's boot hook: settings become variables, and a launcher runs on its own. */
async function startAsPlugin(settings: Record<string, unknown>, dir: string): Promise<number> {
  const launcher = `
nohup "$CLAW_CORE_BINARY" --socket-path "$CLAW_CORE_SOCKET" >>"$DIR/claw_core.log" 2>&1 &
echo $! >"$DIR/claw_core.pid"
for i in $(seq 1 20); do [ -S "$CLAW_CORE_SOCKET" ] && exit 0; sleep 0.5; done
exit 1`;
  const child = Bun.spawn(["bash", "-c", launcher], {
    env: {
      PATH: process.env["PATH"],
      HOME: dir,
      DIR: dir,
      CLAW_CORE_BINARY: String(settings["binaryPath"]),
      CLAW_CORE_SOCKET: String(settings["socketPath"]),
    },
    stdio: ["ignore", "ignore", "ignore"],
    detached: true,
  });
  expect(await child.exited).toBe(0);
  return Number(readFileSync(join(dir, "claw_core.pid"), "utf8"));
}

needs("zsh").test(
  "the settings in the README are the plugin's, and start a daemon that outlives its launcher",
  async () => {
    using dir = tempDir();
    const told = settingsOfReadme();
    expect(Object.keys(told).filter((name) => !pluginSettings.includes(name))).toEqual([]);
    expect(told["binaryPath"]).toEndWith("/trl");
    const socketPath = join(dir.path, "trl.sock");
    const pid = await startAsPlugin({ ...told, binaryPath: binary, socketPath }, dir.path);
    try {
      process.kill(pid, "SIGHUP"); // the end of the gateway's terminal
      using wire = await Wire.connect(socketPath);
      expect((await wire.call("system.stats", {})).pid).toBe(pid);
      const { session_id } = await wire.call("session.create", { shell: "/bin/zsh", timeout_s: 30 });
      const variables = "echo ${CLAW_CORE_BINARY-unset} ${TRL_SOCKET_PATH-unset}";
      const { stdout } = await wire.call("exec.run", { session_id, command: variables });
      expect(stdout).toBe(`${binary} unset\n`);
    } finally {
      process.kill(pid, "SIGTERM");
      await until("the daemon's end", () => !isAlive(pid));
    }
    expect(existsSync(socketPath)).toBe(false);
    const log = readFileSync(join(dir.path, "claw_core.log"), "utf8");
    expect(log).toContain("ready");
    expect(log).toContain("stopped");
  },
);

test("variables of the gateway are the daemon's flags", async () => {
  using dir = tempDir();
  const socketPath = join(dir.path, "trl.sock");
  const named = [...readme.matchAll(/`(TRL_\w+=\w+)`/g)].map(([, assignment]) => assignment!.split("="));
  expect(named.length).toBeGreaterThan(2);
  const child = Bun.spawn([binary, "--socket-path", socketPath], {
    env: { PATH: process.env["PATH"]!, ...Object.fromEntries(named) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  await until("its socket", () => existsSync(socketPath));
  using wire = await Wire.connect(socketPath);
  expect((await wire.call("system.describe", {})).limits).toMatchObject({
    max_sessions: 16,
    default_timeout_s: 300,
  });
  child.kill("SIGTERM");
  const lines = (await child.stderr.text()).trim().split("\n");
  expect(lines.map((line) => JSON.parse(line).level)).not.toContain("warn");
});

needs("python3").test("the check says no, and why, where an executable would not do", async () => {
  using dir = tempDir();
  const check = async (program: string) => {
    const child = Bun.spawn(["python3", join(example, "check.py"), program], {
      env: { ...process.env, TMPDIR: dir.path },
      stdio: ["ignore", "pipe", "ignore"],
    });
    return { out: await child.stdout.text(), code: await child.exited };
  };
  expect(await check("/bin/false")).toMatchObject({
    code: 1,
    out: expect.stringContaining("no: it ended with 1"),
  });
  expect(await check(join(dir.path, "none"))).toMatchObject({
    code: 1,
    out: expect.stringContaining("no: "),
  });
  // Listens, but stays silent: the calls fail.
  const silent = join(dir.path, "silent");
  await Bun.write(silent, '#!/bin/sh\nexec socat UNIX-LISTEN:"$2",fork SYSTEM:true\n');
  Bun.spawnSync(["chmod", "+x", silent]);
  const { out, code } = await check(silent);
  expect(code).toBe(1);
  expect(out).toStartWith("ok: starts in the foreground");
  expect(out).toEndWith("\nno: system.ping: the connection was closed without an answer\n");
});
