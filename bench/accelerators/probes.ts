// What is measured of an accelerator: short versions of the scenarios, each against one daemon.
import type { Daemon } from "../harness/daemon.ts";
import type { Unit } from "../harness/rows.ts";
import type { Bench } from "../harness/scenario.ts";
import { talk } from "../harness/sides.ts";
import { median, percentile } from "../harness/statistics.ts";
import { request } from "../harness/wire.ts";
import { oneFlood } from "../scenarios/one-flood.ts";
import { textFile } from "../scenarios/text-file.ts";
import { trlTypist } from "../scenarios/typist.ts";

export interface Probe {
  name: string;
  unit: Unit;
  /** Starts with a warm-up; each call of `sample` gives one figure. */
  start(bench: Bench, daemon: Daemon): Promise<RunningProbe>;
}

export interface RunningProbe extends AsyncDisposable {
  sample(): Promise<number>;
}

/** The pause of an agent between two commands is longer. */
const pauseMs = 10;

/** Commands of one session in turn, with pauses. */
export const commands = (name: string, command: string): Probe => ({
  name,
  unit: "ms",
  async start(bench, daemon) {
    const side = await talk(bench, {
      socketPath: daemon.socketPath,
      lines: [await runRequest(daemon, command)],
      until: "\n",
    });
    await side.run(20, pauseMs);
    const sample = async () => median((await side.run(30, pauseMs)).samplesMs);
    return { sample, [Symbol.asyncDispose]: () => side[Symbol.asyncDispose]() };
  },
});

/** Commands per second of so many busy sessions. */
export const commandsAtOnce = (name: string, command: string, sessions: number): Probe => ({
  name,
  unit: "/s",
  async start(bench, daemon) {
    const lines: string[] = [];
    for (let i = 0; i < sessions; i++) lines.push(await runRequest(daemon, command));
    const side = await talk(bench, { socketPath: daemon.socketPath, lines, until: "\n" });
    await side.run(sessions * 2);
    const count = sessions * 8;
    const sample = async () => (count / (await side.run(count)).wallMs) * 1000;
    return { sample, [Symbol.asyncDispose]: () => side[Symbol.asyncDispose]() };
  },
});

export const echo = (name: string): Probe => ({
  name,
  unit: "ms",
  async start(bench, daemon) {
    const warmUp = await trlTypist(bench, daemon); // a line holds 4095 keys, so the warm-up has its own
    await warmUp.run(2000);
    await warmUp[Symbol.asyncDispose]();
    const typist = await trlTypist(bench, daemon);
    const sample = async () => median((await typist.run(300)).samplesMs);
    return { sample, [Symbol.asyncDispose]: () => typist[Symbol.asyncDispose]() };
  },
});

const floods = 4;
const floodCommand = "yes a line of ordinary text that goes on and on";

/** The floods run during a sample only: they would disturb the other daemon. */
export const echoBesideFloods = (name: string): Probe => ({
  name,
  unit: "ms",
  async start(bench, daemon) {
    const typist = await trlTypist(bench, daemon);
    await typist.run(500);
    const sample = async () => {
      using wire = await daemon.connect();
      const ids: string[] = [];
      for (let i = 0; i < floods; i++)
        ids.push((await wire.call("pty.create", { command: floodCommand })).session_id);
      await Bun.sleep(200);
      const { samplesMs } = await typist.run(100, 3);
      for (const session_id of ids) await wire.call("pty.close", { session_id });
      return percentile(samplesMs, 0.99);
    };
    return { sample, [Symbol.asyncDispose]: () => typist[Symbol.asyncDispose]() };
  },
});

/** MB/s of a terminal that one client watches. */
export const flood = (name: string): Probe => ({
  name,
  unit: "MB/s",
  async start(bench, daemon) {
    const bytes = 10_000_000;
    await oneFlood(bench, daemon, { file: textFile(bench, 1_000_000), watchers: 1 });
    const file = textFile(bench, bytes);
    const sample = async () => bytes / 1000 / (await oneFlood(bench, daemon, { file, watchers: 1 })).ms;
    return { sample, [Symbol.asyncDispose]: async () => {} };
  },
});

/** MB/s of a command's output. */
export const stream = (name: string, encoding: "utf8" | "base64"): Probe => ({
  name,
  unit: "MB/s",
  async start(bench, daemon) {
    const bytes = 40_000_000;
    const file = textFile(bench, bytes / 4);
    using wire = await daemon.connect();
    const { session_id } = await wire.call("session.create", { shell: "/bin/bash", timeout_s: 0 });
    const command = `cat ${file} ${file} ${file} ${file}`;
    const side = await talk(bench, {
      socketPath: daemon.socketPath,
      lines: [request("exec.stream", { session_id, command, encoding })],
      until: '"type":"exit"',
      isAtEnd: true,
    });
    await side.run(1);
    const sample = async () => bytes / 1000 / (await side.run(1)).samplesMs[0]!;
    return { sample, [Symbol.asyncDispose]: () => side[Symbol.asyncDispose]() };
  },
});

async function runRequest(daemon: Daemon, command: string): Promise<string> {
  using wire = await daemon.connect();
  const { session_id } = await wire.call("session.create", { shell: "/bin/bash" });
  return request("exec.run", { session_id, command });
}
