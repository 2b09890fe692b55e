// Terminals beside tmux in control mode: a keystroke's echo, a flood, an echo beside floods, what idle ones cost.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DaemonClient } from "../src/cli/client.ts";
import { type DriverName, driverNames } from "../src/protocol/pty.ts";
import { type BenchDaemon, median, ms, percentile, type Row, startDaemon } from "./support.ts";
import { hasTmux, TmuxControl } from "./tmux.ts";

const warmUpKeystrokes = 2000;
const keystrokes = 1000;
const floodBytes = 100_000_000;
const idleTerminals = 100;
const idleSeconds = 5;

export async function benchTerminal(): Promise<Row[]> {
  if (!hasTmux) console.log("tmux is missing: its side of the table is left out");
  return [
    ...(await benchEcho()),
    ...(await benchFlood()),
    await benchEchoBesideFloods(),
    ...(await benchIdle()),
    await benchReattach(),
  ];
}

/** Somebody who types, and sees when the echo comes. Both look at what they get as little as they can. */
interface Typist extends AsyncDisposable {
  type(): void;
  onEcho: (() => void) | undefined;
}

async function trlTypist({ socketPath }: BenchDaemon, driver: DriverName): Promise<Typist> {
  const control = await DaemonClient.connect(socketPath);
  const { session_id } = await control.call("pty.create", { command: "cat", args: [], driver });
  const socket = await Bun.connect({
    unix: socketPath,
    socket: {
      data(_, chunk) {
        if (chunk.includes('"type":"output"')) typist.onEcho?.();
      },
    },
  });
  const send = (method: string, params: object) =>
    socket.write(`${JSON.stringify({ id: "1", method, params: { session_id, ...params } })}\n`);
  send("pty.subscribe", { replay: "none" });
  const keystroke = Buffer.from(
    `${JSON.stringify({ id: "1", method: "pty.write", params: { session_id, data: "x" } })}\n`,
  );
  const typist: Typist = {
    type: () => void socket.write(keystroke),
    onEcho: undefined,
    async [Symbol.asyncDispose]() {
      socket.end();
      await control.call("pty.close", { session_id });
      control[Symbol.dispose]();
    },
  };
  return typist;
}

async function tmuxTypist(): Promise<Typist> {
  const tmux = new TmuxControl("cat");
  await Bun.sleep(300);
  return {
    type: () => tmux.type("x"),
    set onEcho(echo: () => void) {
      tmux.onOutput = echo;
    },
    [Symbol.asyncDispose]: () => tmux[Symbol.asyncDispose](),
  };
}

/** They take turns, so that all meet the same noise. */
async function echoTimes(typists: Typist[], count: number): Promise<number[][]> {
  const samples: number[][] = typists.map(() => []);
  for (let i = 0; i < count; i++) {
    for (const [at, typist] of typists.entries()) {
      await Bun.sleep(3);
      const echo = new Promise<void>((resolve) => {
        typist.onEcho = resolve;
      });
      const began = performance.now();
      typist.type();
      await echo;
      samples[at]!.push(performance.now() - began);
    }
  }
  return samples;
}

async function benchEcho(): Promise<Row[]> {
  await using daemon = await startDaemon();
  await using tmux = hasTmux ? await tmuxTypist() : undefined;
  await using native = await trlTypist(daemon, "native");
  // The engine compiles what is used often; before, each keystroke takes a little longer (the README says how much).
  await echoTimes(tmux ? [native, tmux] : [native], warmUpKeystrokes);
  const [mine, peer] = await echoTimes(tmux ? [native, tmux] : [native], keystrokes);
  // By itself: it is never still, and would disturb the others.
  await using bunPty = await trlTypist(daemon, "bun-pty");
  const [theirs] = await echoTimes([bunPty], keystrokes / 5);
  return driverNames.map((driver) => {
    const samples = driver === "native" ? mine! : theirs!;
    const ratio = peer ? median(samples) / median(peer) : 0;
    const isBound = driver === "native" && peer !== undefined;
    return {
      what: `echo of a keystroke / tmux, ${driver}`,
      measured: ms(median(samples)),
      floor: peer ? ms(median(peer)) : "-",
      ratio,
      goal: isBound ? "<= 1" : "-",
      isMet: !isBound || ratio <= 1,
    };
  });
}

/** MB/s of what the program printed. */
async function trlFlood(daemon: BenchDaemon, driver: DriverName, file: string): Promise<number> {
  const own = await DaemonClient.connect(daemon.socketPath);
  const { session_id } = await own.call("pty.create", { command: `read go; cat ${file}`, driver });
  let began = 0;
  let isExact = true;
  const ms = await new Promise<number>((resolve) => {
    void own
      .subscribe({ session_id, replay: "none" }, ({ type }) => {
        if (type === "gap") isExact = false;
        if (type === "exit") resolve(performance.now() - began);
      })
      .then(() => {
        began = performance.now();
        void own.call("pty.write", { session_id, data: "\n" });
      });
  });
  own[Symbol.dispose]();
  if (!isExact) console.log(`(the subscriber of the ${driver} flood was too slow: there was a gap)`);
  return floodBytes / 1000 / ms;
}

async function tmuxFlood(file: string): Promise<number> {
  const began = performance.now();
  await using tmux = new TmuxControl(`cat ${file}`);
  await tmux.ended;
  return floodBytes / 1000 / (performance.now() - began);
}

async function benchFlood(): Promise<Row[]> {
  const dir = mkdtempSync(join(tmpdir(), "trl-bench-"));
  const file = join(dir, "text");
  const line = "The quick brown fox jumps over the lazy dog, 0123456789 times a day.\n";
  writeFileSync(file, line.repeat(floodBytes / line.length));
  await using daemon = await startDaemon();
  const rows: Row[] = [];
  const peer = hasTmux ? await tmuxFlood(file) : 0;
  for (const driver of driverNames) {
    const mine = await trlFlood(daemon, driver, file);
    const ratio = hasTmux ? mine / peer : 0;
    const isBound = driver === "native" && hasTmux;
    rows.push({
      what: `100 MB to one subscriber / tmux, ${driver}`,
      measured: `${mine.toFixed(1)} MB/s`,
      floor: hasTmux ? `${peer.toFixed(1)} MB/s` : "-",
      ratio,
      goal: isBound ? ">= 3" : "-",
      isMet: !isBound || ratio >= 3,
    });
  }
  rmSync(dir, { recursive: true });
  return rows;
}

async function benchEchoBesideFloods(): Promise<Row> {
  await using daemon = await startDaemon();
  using client = await DaemonClient.connect(daemon.socketPath);
  for (let i = 0; i < 4; i++) {
    await client.call("pty.create", {
      command: "yes",
      args: ["a line of ordinary text that goes on and on"],
    });
  }
  await using typist = await trlTypist(daemon, "native");
  const [samples = []] = await echoTimes([typist], keystrokes);
  const p99 = percentile(samples, 0.99);
  return {
    what: "echo beside four floods: p99 (floor: p50)",
    measured: ms(p99),
    floor: ms(median(samples)),
    ratio: p99 / median(samples),
    goal: "<= 15 ms",
    isMet: p99 <= 15,
  };
}

const residentKb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]);

const clockTicks = 100;
function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / clockTicks;
}

async function benchIdle(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const driver of driverNames) {
    await using daemon = await startDaemon({ flags: ["--max-sessions", "1000", "--pty-driver", driver] });
    using client = await DaemonClient.connect(daemon.socketPath);
    const line = "x".repeat(60);
    const command = `for i in {1..2000}; do echo ${line} $i; done; sleep 1000`;
    const before = residentKb(daemon.pid);
    const ids: string[] = [];
    for (let i = 0; i < idleTerminals; i++) {
      const { session_id } = await client.call("pty.create", { command });
      ids.push(session_id);
      await client.call("pty.wait", { session_id, until: { text: " 2000" } });
    }
    await Bun.sleep(2000);
    const eachKb = (residentKb(daemon.pid) - before) / idleTerminals;
    const cpuBefore = cpuSeconds(daemon.pid);
    await Bun.sleep(idleSeconds * 1000);
    const percent = ((cpuSeconds(daemon.pid) - cpuBefore) / idleSeconds) * 100;
    const isBound = driver === "native";
    rows.push({
      what: `100 idle terminals, part of a core, ${driver}`,
      measured: `${percent.toFixed(2)} %`,
      floor: "-",
      ratio: percent,
      goal: isBound ? "<= 1 %" : "-",
      isMet: !isBound || percent <= 1,
    });
    rows.push({
      what: `an idle terminal with 2000 lines, ${driver}`,
      measured: `${eachKb.toFixed(0)} KB`,
      floor: "-",
      ratio: eachKb,
      goal: isBound ? "<= 600 KB" : "-",
      isMet: !isBound || eachKb <= 600,
    });
  }
  return rows;
}

async function benchReattach(): Promise<Row> {
  await using daemon = await startDaemon();
  using client = await DaemonClient.connect(daemon.socketPath);
  const samples: number[] = [];
  // A terminal that is left has been there for a while.
  await client.call("pty.create", { command: "sleep 1000" });
  await Bun.sleep(500);
  for (let i = 0; i < 30; i++) {
    const { session_id } = await client.call("pty.create", {
      command: "for i in {1..2000}; do echo a line of text, number $i; done; sleep 1000",
    });
    while (
      (await client.call("pty.list", {})).sessions.some(
        (s) => s.session_id === session_id && s.offset < 56_000,
      )
    )
      await Bun.sleep(5);
    using own = await DaemonClient.connect(daemon.socketPath);
    const began = performance.now();
    await new Promise<void>((resolve) => {
      void own.subscribe({ session_id, replay: "screen" }, () => resolve());
    });
    samples.push(performance.now() - began);
    await client.call("pty.close", { session_id });
  }
  const typical = median(samples);
  return {
    what: "screen of a terminal that was left (floor: the first one)",
    measured: ms(typical),
    floor: ms(samples[0]!),
    ratio: typical / samples[0]!,
    goal: "<= 20 ms",
    isMet: typical <= 20 && samples[0]! <= 20,
  };
}
