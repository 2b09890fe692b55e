// Ways out of a session, tried in one that is kept: whatever they do, they are dead after destroy, and the same in
// another session is not touched.
import { afterAll, beforeAll, expect } from "bun:test";
import type { Isolation } from "../../../src/protocol/isolation.ts";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { listProcesses, processesWith } from "../../support/processes.ts";
import type { RequirementName } from "../../support/requirements.ts";
import { newSession } from "../../support/session.ts";
import { newTerminal } from "../../support/terminal.ts";
import { until } from "../../support/wait.ts";
import type { Wire } from "../../support/wire.ts";

let daemon: TestDaemon;
let wire: Wire;

beforeAll(async () => {
  daemon = await startDaemon();
  wire = await daemon.connect();
});
afterAll(async () => {
  wire[Symbol.dispose]();
  await daemon[Symbol.asyncDispose]();
});

/** Twice forked, of a session of its own, deaf, blind, nameless and with nothing that tells where it came from. */
const everything = (mark: string) => `python3 -c '
import os, signal
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
for number in range(1, 32):
    if number not in (signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD): signal.signal(number, signal.SIG_IGN)
os.closerange(0, 256)
os.execve("/bin/sleep", ["[kworker/0:1]", "${mark}"], {})
'`;

const withPython = "all of it at once";
const python = needs("python3");

const escapes: Record<string, (mark: string) => string> = {
  setsid: (mark) => `setsid sleep ${mark} &`,
  "a double fork": (mark) => `(setsid sh -c 'sleep ${mark} &' &)`,
  "env -i": (mark) => `env -i setsid sleep ${mark} &`,
  "ignored signals": (mark) => `(trap '' TERM HUP INT QUIT; setsid sleep ${mark}) &`,
  "closed descriptors": (mark) => `setsid sleep ${mark} 0<&- 1>&- 2>&- &`,
  "another name": (mark) => `setsid bash -c "exec -a '[kworker/0:1]' sleep ${mark}" &`,
  [withPython]: everything,
};

const kinds: Record<string, { isolation: Isolation; requirements: RequirementName[] }> = {
  limits: { isolation: { limits: { pids: 100 } }, requirements: ["limits"] },
  sandbox: { isolation: { sandbox: {} }, requirements: ["sandbox"] },
  "limits and sandbox": {
    isolation: { limits: { pids: 100 }, sandbox: {} },
    requirements: ["limits", "sandbox"],
  },
};

let marks = 0;
/** A number of seconds that nobody else sleeps. */
const newMark = () => `${10_000_000 + process.pid}.${++marks}`;

function pidsWith(mark: string): number[] {
  const names = [`sleep ${mark}`, `[kworker/0:1] ${mark}`];
  return listProcesses().flatMap(({ args, pid }) => (names.includes(args) ? [pid] : []));
}

const untilThere = (mark: string) => until(`a process with ${mark}`, () => pidsWith(mark).length > 0);

// They mostly wait for processes that do not want to end, and the more are about, the harder it is to tell whose is which.
for (const [name, { isolation, requirements }] of Object.entries(kinds)) {
  needs(...requirements).describe(`kept by ${name},`, () => {
    for (const name of Object.keys(escapes))
      (name === withPython ? python : needs("linux")).test.concurrent(`${name} is no way out`, async () => {
        const [mine, theirs] = [newMark(), newMark()];
        const bystander = await newSession(wire); // with several about, it is not clear whose an orphan is
        await bystander.run(`sleep ${newMark()} &`);
        const other = await newSession(wire, { isolation });
        await other.run(escapes[name]!(theirs));
        const session = await newSession(wire, { isolation });
        await session.run(escapes[name]!(mine));
        await untilThere(mine);
        await untilThere(theirs);
        await wire.call("session.destroy", { session_id: session.id });
        expect(pidsWith(mine)).toEqual([]);
        expect(pidsWith(theirs)).not.toBeEmpty();
        await wire.call("session.destroy", { session_id: other.id });
        expect(pidsWith(theirs)).toEqual([]);
        await wire.call("session.destroy", { session_id: bystander.id });
      });

    python.test.concurrent("nor is it from a terminal", async () => {
      const mark = newMark();
      const terminal = await newTerminal(wire, { isolation, command: "bash", args: ["--norc"] });
      const bystander = await newSession(wire, { isolation });
      await bystander.run(`sleep ${newMark()} &`);
      await terminal.type(`${everything(mark)}\n`);
      await untilThere(mark);
      await wire.call("pty.close", { session_id: terminal.id });
      expect(pidsWith(mark)).toEqual([]);
      await wire.call("session.destroy", { session_id: bystander.id });
    });

    python.test.concurrent(
      "nor from a command that is stopped: what it left elsewhere goes with it",
      async () => {
        const [before, mark] = [newMark(), newMark()];
        const { id, run, out } = await newSession(wire, { isolation });
        await run(`sleep ${before} &`);
        const running = run(`${everything(mark)}\nsleep 100`);
        await untilThere(mark);
        await wire.call("exec.cancel", { session_id: id });
        expect((await running).reason).toBe("cancelled");
        expect(pidsWith(mark)).toEqual([]);
        expect(pidsWith(before)).not.toBeEmpty(); // of an earlier command
        expect(await out("echo usable")).toBe("usable");
        await wire.call("session.destroy", { session_id: id });
        expect(pidsWith(before)).toEqual([]);
      },
    );
  });
}

needs("limits").test("those that fork and end without pause cannot outrun the end", async () => {
  const isolation = { limits: { pids: 30, cpu_percent: 60 } };
  const mark = `relay-${process.pid}`;
  const { id, run } = await newSession(wire, { isolation });
  await run(
    `relay() { : ${mark}; (relay &) ; }; env -i setsid bash -c "$(declare -f relay); relay" >/dev/null 2>&1 &`,
  );
  await until("the relay", async () => (await wire.call("session.info", { session_id: id })).processes > 1);
  await wire.call("session.destroy", { session_id: id });
  expect(processesWith(mark)).toEqual([]);
});

needs("limits", "sandbox").test(
  "a session that kills its own shell, or all that it can reach, goes on",
  async () => {
    const isolation = { limits: { pids: 50 }, sandbox: {} };
    const { run, out } = await newSession(wire, { isolation });
    await run("kept=1");
    expect((await run("kill -9 $$")).exit_code).toBe(137);
    await run("kill -9 1; kill -9 -1");
    await run("kill -TERM 0");
    expect(await out("echo $kept")).toBe("1");
    expect((await wire.call("system.ping", {})).version).toBeString();
  },
);
