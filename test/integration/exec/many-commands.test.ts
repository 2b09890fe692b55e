// Commands that end at once, eight sessions side by side: nothing is lost, mixed up or left. Ten thousand in test:full.
import { expect } from "bun:test";
import { readdirSync } from "node:fs";
import { startDaemon } from "../../support/daemon.ts";
import { needs } from "../../support/needs.ts";
import { childrenOf } from "../../support/processes.ts";
import { newSession, type TestSession } from "../../support/session.ts";
import { isFull } from "../../support/transport.ts";
import { until } from "../../support/wait.ts";
import { Wire } from "../../support/wire.ts";

const sessionCount = 8;
const commandsPerSession = isFull ? 1250 : 150;

/** Sessions that keep their state, and some that start a shell for each command. */
const kinds = [
  { shell: "bash" },
  { shell: "/bin/sh" },
  { shell: "/bin/sh", stateful: false },
  { shell: "/bin/sh", stateful: false },
];

/** What the command printed and how it ended, all of it of its own: a number that no other has. */
async function runAll(session: TestSession, index: number): Promise<string[]> {
  const wrong: string[] = [];
  for (let i = 0; i < commandsPerSession; i++) {
    const mark = `${index}.${i}`;
    const code = (index * 31 + i) % 256;
    const { stdout, stderr, exit_code, signal } = await session.run(
      `printf %s out-${mark}; printf %s err-${mark} >&2; exit ${code}`,
    );
    const isRight =
      stdout === `out-${mark}` && stderr === `err-${mark}` && exit_code === code && signal === null;
    if (!isRight) wrong.push(`${mark}: ${JSON.stringify({ stdout, stderr, exit_code, signal })}`);
  }
  return wrong;
}

/** The shells that wait ahead are made after the replies, each with its descriptors. */
async function settled(count: () => number): Promise<number> {
  let last = count();
  let times = 0;
  return await until("a number that stays", async () => {
    await Bun.sleep(20);
    const now = count();
    times = now === last ? times + 1 : 0;
    last = now;
    return times === 15 ? now : undefined;
  });
}

const zombiesOf = (pid: number): number => childrenOf(pid).filter(({ state }) => state === "Z").length;

needs("linux").test(
  `${sessionCount * commandsPerSession} commands over eight sessions: every byte and exit code is right, and nothing is left`,
  async () => {
    await using daemon = await startDaemon({ flags: ["--session-max-commands", "0"] });
    const wires = await Promise.all(
      Array.from({ length: sessionCount }, () => Wire.connect(daemon.socketPath)),
    );
    for (const wire of wires) {
      wire.keepsFrames = false;
      wire.onFrame = () => {};
    }
    const descriptors = () => readdirSync(`/proc/${daemon.pid}/fd`).length;
    const sessions = await Promise.all(
      wires.map((wire, index) => newSession(wire, kinds[index % kinds.length])),
    );
    await Promise.all(sessions.map(({ run }) => run("true")));
    const before = await settled(descriptors);
    const wrong = await Promise.all(sessions.map(runAll));
    expect(wrong.flat()).toEqual([]);
    await until("the descriptors to be as before", () => descriptors() <= before);
    await until("no zombie", () => zombiesOf(daemon.pid) === 0);
    const stats = await wires[0]!.call("system.stats", {});
    expect(stats.total_commands_run).toBe(sessionCount * (commandsPerSession + 1));
    expect(stats).toMatchObject({ running_commands: 0, leftover_processes: 0 });
    for (const wire of wires) wire[Symbol.dispose]();
  },
  120_000,
);
