// Without adoption of orphans, as on macOS, groups and tags find all owned processes and no others. With adoption, a
// process in the middle of execve keeps its owner open.
import { expect } from "bun:test";
import { ProcessOwnership } from "../../../../src/core/process/ownership.ts";
import { tagNames } from "../../../../src/core/process/tags.ts";
import { terminate } from "../../../../src/core/process/terminate.ts";
import { processTable } from "../../../../src/platform/process-table.ts";
import { needs } from "../../../support/needs.ts";
import { isAlive, processOf } from "../../../support/processes.ts";
import { until } from "../../../support/wait.ts";

const sessionId = "s-0badcafe";

function start(command: string, env: Record<string, string> = {}) {
  return Bun.spawn(["sh", "-c", command], {
    env: { PATH: process.env["PATH"]!, ...env },
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  });
}

async function firstPid(child: { stdout: ReadableStream<Uint8Array> }): Promise<number> {
  const { value } = await child.stdout.getReader().read();
  return Number(new TextDecoder().decode(value));
}

needs("linux").test("everything means all owned processes", async () => {
  const ownership = new ProcessOwnership(false);
  ownership.addSession(sessionId);
  const tags = { [tagNames.session]: sessionId, [tagNames.command]: "x-00000001" };
  const root = start("sleep 300 & echo $!; wait", tags);
  const escaped = start("setsid sleep 301 & echo $!; wait", { ...tags });
  const stranger = start("echo $$; exec sleep 302");
  const forged = start("echo $$; exec sleep 303", { [tagNames.session]: "s-00000000" });
  ownership.addRoot(root.pid, { sessionId, commandId: "x-00000001" });
  const [inGroup, escapedPid, strangerPid, forgedPid] = await Promise.all(
    [root, escaped, stranger, forged].map(firstPid),
  );
  await until("the escapee", () => processOf(escapedPid!)?.args === "sleep 301");
  const members = (await ownership.membersOf("everything")).map(({ pid }) => pid);
  expect(members).toEqual(expect.arrayContaining([root.pid, inGroup!, escapedPid!]));
  for (const pid of [strangerPid!, forgedPid!, process.pid, 1]) expect(members).not.toContain(pid);
  expect(await terminate(ownership, "everything", { graceMs: 500 })).toEqual([]);
  expect([root.pid, inGroup!, escapedPid!].filter(isAlive)).toEqual([]);
  expect([strangerPid!, forgedPid!].filter(isAlive)).toEqual([strangerPid!, forgedPid!]);
  stranger.kill();
  forged.kill();
});

needs("linux").test("a process in the middle of execve is waited for, not disowned", async () => {
  const ownership = new ProcessOwnership(true);
  ownership.addSession(sessionId);
  // With two sessions that run a command, a process without tags could belong to either.
  const [first, second] = [start("sleep 304"), start("sleep 305")];
  ownership.addRoot(first.pid, { sessionId: "s-00000001", commandId: "x-00000001" });
  ownership.addRoot(second.pid, { sessionId: "s-00000002", commandId: "x-00000002" });
  const { isMidExec, environmentOf } = processTable;
  const orphan = start("exec sleep 306", { [tagNames.session]: sessionId });
  try {
    const isIt = (pid: number) => pid === orphan.pid;
    processTable.isMidExec = (pid) => isIt(pid) || isMidExec(pid);
    processTable.environmentOf = (pid, names) => (isIt(pid) ? {} : environmentOf(pid, names));
    expect((await ownership.scanForEnd({ sessionId })).hasEnded).toBeFalse();
  } finally {
    Object.assign(processTable, { isMidExec, environmentOf });
  }
  const isMember = async () =>
    (await ownership.membersOf({ sessionId })).some(({ pid }) => pid === orphan.pid);
  await until("its tags", isMember); // it may really be in the middle of execve
  expect(await terminate(ownership, { sessionId }, { graceMs: 500 })).toEqual([]);
  expect(isAlive(orphan.pid)).toBeFalse();
  for (const child of [first, second]) child.kill();
});

needs("linux").test("PID 1 gives an orphan to a session only by its mark or tags", async () => {
  for (const isInit of [false, true]) {
    const ownership = new ProcessOwnership(
      true,
      undefined,
      `${process.pid}:/tmp/ownership-test.sock`,
      isInit,
    );
    ownership.addSession(sessionId);
    const root = ownership.start(sessionId, () => start("exec sleep 307"));
    ownership.addRoot(root.pid, { sessionId, commandId: "x-00000001" });
    const stranger = start("echo $$; exec sleep 308");
    const marked = ownership.start(sessionId, () => start("echo $$; exec sleep 309"));
    await Promise.all([stranger, marked].map(firstPid));
    const members = (await ownership.membersOf({ sessionId })).map(({ pid }) => pid);
    expect(members).toContain(marked.pid);
    // Other than PID 1, the daemon adopts descendants only, so the only session with a command owns them.
    expect(members.includes(stranger.pid)).toBe(!isInit);
    for (const child of [root, stranger, marked]) child.kill();
    await Promise.all([root, stranger, marked].map(({ exited }) => exited));
  }
});
