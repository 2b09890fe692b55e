// The wall clock is set while a daemon runs: nothing ends, is forgotten or is cancelled because of it.
import { expect } from "bun:test";
import { startHere } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { newSession } from "../../support/session.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { newTerminal } from "../../support/terminal.ts";
import { upgrade } from "../../support/upgrade.ts";
import { until } from "../../support/wait.ts";
import { wallClock } from "../../support/wall-clock.ts";
import { Wire } from "../../support/wire.ts";

const day = 86_400;

needs("cc").test(
  "sessions, commands, terminals and results outlive a clock that is set by days, also across an upgrade",
  async () => {
    using dir = tempDir();
    const clock = wallClock(dir.path);
    await using daemon = await startHere({ env: clock.env });
    const aheadS = (time: string) => (Date.parse(time) - Date.now()) / 1000;
    using wire = await Wire.connect(daemon.socketPath);
    const idle = await newSession(wire);
    const busy = await newSession(wire);
    await idle.run("echo kept", { command_id: "x-0000000000000001" });
    const { stream_id } = await wire.call("exec.stream", {
      session_id: busy.id,
      command: "sleep 1000",
      timeout_s: 900,
    });
    const terminal = await newTerminal(wire, { command: "sleep 1000", idle_timeout_s: 900 });
    const ended = await newTerminal(wire, { command: "exit 3" });
    await ended.waitForExit();

    const check = async (expectedS: number) => {
      using its = await Wire.connect(daemon.socketPath);
      // A session that is to end soon, and does, shows that the daemon has looked since.
      const soon = await its.call("session.create", { idle_timeout_s: 0.5 });
      expect(aheadS(soon.created_at)).toBeWithin(expectedS - 60, expectedS + 60);
      await until("a look at the ages", async () => {
        const { sessions } = await its.call("session.list", {});
        return !sessions.some(({ session_id }) => session_id === soon.session_id);
      });
      const { sessions } = await its.call("session.list", {});
      expect(sessions.map(({ session_id }) => session_id).sort()).toEqual(
        [idle.id, busy.id, terminal.id].sort(),
      );
      const known = sessions.find(({ session_id }) => session_id === idle.id)!;
      expect(aheadS(known.expires_at!)).toBeWithin(expectedS + 3000, expectedS + 3660);
      const { streams } = await its.call("exec.list", {});
      expect(streams.find((it) => it.stream_id === stream_id)).toMatchObject({ state: "running" });
      const past = await its.call("exec.wait", { stream_id: "x-0000000000000001" });
      expect(past.stdout).toBe("kept\n");
      const { sessions: terminals } = await its.call("pty.list", {});
      expect(terminals.find((it) => it.session_id === ended.id)).toMatchObject({ exit_code: 3 });
      expect((await its.call("system.ping", {})).uptime_s).toBeWithin(0, 600);
    };

    await check(0);
    clock.set(2 * day);
    await check(2 * day);
    expect(await upgrade(daemon)).toMatchObject({ ok: true });
    await check(2 * day);
    clock.set(-2 * day);
    await check(-2 * day);
    expect(await upgrade(daemon)).toMatchObject({ ok: true });
    await check(-2 * day);
  },
  60_000,
);
