// A takeover from the recorded state of an earlier program: the state document of each schema version stays restorable.
import { expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { needs } from "../../support/needs.ts";
import { isAlive } from "../../support/processes.ts";
import { replaceProcesses, restoreRecorded } from "../../support/recorded-state.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { script, upgrade } from "../../support/upgrade.ts";
import { until } from "../../support/wait.ts";
import type { Wire } from "../../support/wire.ts";

const { test } = needs("linux");
const version = "v1";
const ids = { past: "x-00000000000000a1", running: "x-00000000000000a3" };

const idOf = async (wire: Wire, name: string): Promise<string> =>
  [...(await wire.call("session.list", {})).sessions, ...(await wire.call("pty.list", {})).sessions].find(
    (session) => session.name === name,
  )!.session_id;

/** What the recorder gave to both of the recorded daemons. */
async function expectIdleState(wire: Wire): Promise<void> {
  const session_id = await idOf(wire, "kept");
  const command = 'pwd; f; hey; umask; echo "${list[1]} $GIVEN"; false | true; echo $?';
  expect((await wire.call("exec.run", { session_id, command })).stdout).toBe(
    "/usr\nf of 41\nhey\n0027\nb c by the client\n1\n",
  );
  expect(await wire.call("exec.wait", { stream_id: ids.past })).toMatchObject({
    stdout: "printed\n",
    stderr: "problem\n",
    exit_code: 3,
  });
  const plain = { session_id: await idOf(wire, "plain"), command: "echo $Y" };
  expect((await wire.call("exec.run", plain)).stdout).toBe("2\n");
  const ended = await wire.call("pty.snapshot", { session_id: await idOf(wire, "ended") });
  expect(ended.lines?.[0]).toBe("last words");
}

test("without running processes", async () => {
  using dir = tempDir();
  await using daemon = await restoreRecorded({ dir: dir.path, version, name: "idle" });
  using wire = await daemon.connect();
  await expectIdleState(wire);
  const { last_upgrade } = await wire.call("system.describe", {});
  expect(last_upgrade).toMatchObject({ ok: true, from_version: "0.0.1" });
  expect(daemon.log()).toContain("upgraded");
});

test("with a running command and a terminal, and once more from there", async () => {
  using dir = tempDir();
  const at = (file: string) => join(dir.path, file);
  const pidIn = (file: string) => Number(readFileSync(at(file), "utf8"));
  await using daemon = await restoreRecorded({
    dir: dir.path,
    version,
    name: "busy",
    processes: `sh -c 'read -r line; echo "$line"; exit 7' <&8 >&9 2>/dev/null & echo $! >command
setsid env PS1='$ ' bash --norc --noprofile <"$SLAVE" >"$SLAVE" 2>&1 & echo $! >terminal`,
    edit: (document) => replaceProcesses(document, { pid: pidIn("command") }, { pid: pidIn("terminal") }),
  });
  using wire = await daemon.connect();
  await expectIdleState(wire);
  const { streams } = await wire.call("exec.list", { state: "running" });
  expect(streams.map(({ stream_id, pid }) => [stream_id, pid])).toEqual([[ids.running, pidIn("command")]]);
  const desk = { session_id: await idOf(wire, "desk") };
  await wire.call("pty.write", { ...desk, data: "echo $((6 * 7))\n" });
  await wire.call("pty.wait", { ...desk, until: { text: "\n42\n" }, timeout_s: 15 });

  expect(await upgrade({ socketPath: at("trl.sock"), pid: daemon.pid })).toMatchObject({ ok: true });
  using after = await daemon.connect();
  await after.call("exec.write", { stream_id: ids.running, data: "input\n" });
  expect(await after.call("exec.wait", { stream_id: ids.running })).toMatchObject({
    stdout: "begun\ninput\n",
    exit_code: 7,
  });
  await after.call("pty.write", { ...desk, data: "echo $((6 * 8)); exit 5\n" });
  await after.call("pty.wait", { ...desk, until: { exit: true }, timeout_s: 15 });
  const { lines } = await after.call("pty.snapshot", desk);
  expect(lines).toContain("42");
  expect(lines).toContain("48");
  expect(isAlive(pidIn("terminal"))).toBe(false);
  await expectIdleState(after);
});

test("with fields that this program does not know", async () => {
  using dir = tempDir();
  await using daemon = await restoreRecorded({
    dir: dir.path,
    version,
    name: "idle",
    edit(document) {
      document.later = { added: true };
      document.core.sessions[0].later = "unused";
      document.core.commands.ended[0].command.later = [1];
    },
  });
  using wire = await daemon.connect();
  await expectIdleState(wire);
});

test("of a later schema version it is refused, and the previous program gets it back", async () => {
  using dir = tempDir();
  const rolledBack = join(dir.path, "rolled-back");
  const previous = script(dir.path, "previous", `printf %s "$TRL_HANDOVER" >${rolledBack}`);
  await using daemon = await restoreRecorded({
    dir: dir.path,
    version,
    name: "idle",
    previous,
    edit: (document) => Object.assign(document, { format: 3 }),
  });
  expect(await daemon.exited).toBe(0);
  await until("the rollback", () => existsSync(rolledBack));
  expect(JSON.parse(readFileSync(rolledBack, "utf8"))).toMatchObject({
    kind: "back",
    failure: "the state has schema version 3, and this program reads versions 1 to 2",
  });
});
