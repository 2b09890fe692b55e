// A daemon starts itself again with settings of its engine: to whoever started it, it is the same process.
import { expect, test } from "bun:test";
import { readFileSync, readlinkSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { startHere } from "../support/daemon.ts";
import { needs } from "../support/needs.ts";
import { binary } from "../support/program.ts";
import { findLoader } from "../support/requirements.ts";
import { newSession } from "../support/session.ts";
import { tempDir } from "../support/temp-dir.ts";

const setting = "BUN_JSC_thresholdForFTLOptimizeAfterWarmUp";

const environmentOf = (pid: number) => readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");

needs("linux").describe("the engine's settings", () => {
  test("are the daemon's alone", async () => {
    await using daemon = await startHere();
    expect(environmentOf(daemon.pid).some((entry) => entry.startsWith(`${setting}=`))).toBe(true);
    using wire = await daemon.connect();
    expect(await (await newSession(wire)).out("env; /usr/bin/env")).not.toMatch(/BUN_JSC|TRL_ENGINE/);
    for (const driver of ["native", "bun-pty"] as const) {
      const command = "env | grep -cE 'BUN_JSC|TRL_ENGINE'; echo end; read -r seen";
      await wire.call("pty.create", { session_id: driver, driver, command });
      const wait = { session_id: driver, until: { text: "end" }, timeout_s: 10 };
      const { screen } = await wire.call("pty.wait", wait);
      expect(screen.lines?.[0]).toBe("0");
    }
  });

  test("that somebody has set stand, and commands have them as well", async () => {
    await using daemon = await startHere({ env: { [setting]: "77777" } });
    expect(environmentOf(daemon.pid)).toContain(`${setting}=77777`);
    using wire = await daemon.connect();
    expect(await (await newSession(wire)).out(`echo $${setting}`)).toBe("77777");
  });

  needs("glibc").test("are left as they are for a loader, which is no program of ours", async () => {
    await using daemon = await startHere({ program: [findLoader()!, binary] });
    using wire = await daemon.connect();
    expect(await (await newSession(wire)).out("echo here")).toBe("here");
  });

  test("are left as they are for whoever inspects the engine", async () => {
    using dir = tempDir();
    await using daemon = await startHere({ env: { BUN_INSPECT: `unix://${join(dir.path, "inspector")}` } });
    using wire = await daemon.connect();
    expect(await (await newSession(wire)).out("echo here")).toBe("here");
  });

  test("of an earlier version, which went by another mark, are the daemon's alone as well", async () => {
    const former = {
      BUN_JSC_useConcurrentJIT: "0",
      BUN_JSC_numberOfGCMarkers: "1",
      TRL_WITHOUT_THREADS: "1",
    };
    await using daemon = await startHere({ env: former });
    using wire = await daemon.connect();
    expect(await (await newSession(wire)).out("env")).not.toContain("BUN_JSC");
  });

  test("cost it neither its descriptors, nor its name, nor its arguments", async () => {
    using dir = tempDir();
    const [alias, lock] = [join(dir.path, "claw_core"), join(dir.path, "lock")];
    symlinkSync(binary, alias);
    // `sh` is what gives it a descriptor, and becomes it.
    await using daemon = await startHere({
      program: ["sh", "-c", `exec 9>"$0"; exec "$@"`, lock, alias],
      flags: ["--labels", "gpu,isolated"],
    });
    expect(readlinkSync(`/proc/${daemon.pid}/fd/9`)).toBe(lock);
    expect(readFileSync(`/proc/${daemon.pid}/comm`, "utf8")).toBe("claw_core\n");
    const words = readFileSync(`/proc/${daemon.pid}/cmdline`, "utf8").split("\0");
    expect(words.slice(0, 2)).toEqual([alias, "serve"]);
    using wire = await daemon.connect();
    const open = await (await newSession(wire)).out("test -e /dev/fd/9 && echo open || echo closed");
    expect(open).toBe("closed");
  });
});
