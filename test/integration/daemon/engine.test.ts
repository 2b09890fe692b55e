// Settings of the JavaScript engine: which daemons get them from trl, and that no command inherits them.
import { expect, test } from "bun:test";
import { existsSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { compileLater, withoutThreads } from "../../../src/util/engine-settings.ts";
import { startHere } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { binary } from "../../support/program.ts";
import { newSession } from "../../support/session.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { trl } from "../../support/trl.ts";
import { until } from "../../support/wait.ts";

const [setting] = Object.keys(compileLater) as [string];

const environmentOf = (pid: number | string) => readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");

needs("linux").describe("the engine's settings", () => {
  test("that trl makes are the daemon's alone", async () => {
    await using daemon = await startHere({ env: { ...compileLater, ...withoutThreads } });
    using wire = await daemon.connect();
    expect(await (await newSession(wire)).out("env; /usr/bin/env")).not.toContain("BUN_JSC");
    for (const driver of ["native", "bun-pty"] as const) {
      const command = "env | grep -c BUN_JSC; echo end; read -r seen";
      await wire.call("pty.create", { session_id: driver, driver, command });
      const wait = { session_id: driver, until: { text: "end" }, timeout_s: 10 };
      const { screen } = await wire.call("pty.wait", wait);
      expect(screen.lines?.[0]).toBe("0");
    }
  });

  test("that the user has made stand, and commands have them as well", async () => {
    await using daemon = await startHere({ env: { [setting]: "77777" } });
    expect(environmentOf(daemon.pid)).toContain(`${setting}=77777`);
    using wire = await daemon.connect();
    expect(await (await newSession(wire)).out(`echo $${setting}`)).toBe("77777");
  });

  test.each(["new", "dial-stdio"])(
    "are made for a daemon that `trl %s` starts, unless the user has",
    async (verb) => {
      for (const [env, expected] of [
        [{}, `${setting}=${compileLater[setting]}`],
        [{ [setting]: "77777" }, `${setting}=77777`],
      ] as [Record<string, string>, string][]) {
        using dir = tempDir();
        const at = {
          env: { TRL_RUNTIME_DIR: dir.path, TRL_SOCKET_PATH: join(dir.path, "trl.sock"), ...env },
        };
        expect(trl([verb], at).code).toBe(0);
        const { pid } = JSON.parse(trl(["stats", "--json"], at).out);
        try {
          expect(environmentOf(pid)).toContain(expected);
        } finally {
          process.kill(pid, "SIGTERM");
          await until("the daemon to end", () => !existsSync(`/proc/${pid}`));
        }
      }
    },
  );

  test("against late compiling are not made for a daemon that ends with its caller", () => {
    const { out } = trl(["run", "--", "sh", "-c", "tr '\\0' '\\n' </proc/${TRL_DAEMON%%:*}/environ"]);
    expect(out).toContain("TRL_LIFELINE=stdin\n");
    expect(out).not.toContain(setting);
  });
});

needs("linux").test("a descriptor that the daemon was given stays open, and no command has it", async () => {
  using dir = tempDir();
  const lock = join(dir.path, "lock");
  // `sh` opens the descriptor and becomes the daemon.
  await using daemon = await startHere({ program: ["sh", "-c", `exec 9>"$0"; exec "$@"`, lock, binary] });
  expect(readlinkSync(`/proc/${daemon.pid}/fd/9`)).toBe(lock);
  using wire = await daemon.connect();
  const open = await (await newSession(wire)).out("test -e /dev/fd/9 && echo open || echo closed");
  expect(open).toBe("closed");
});
