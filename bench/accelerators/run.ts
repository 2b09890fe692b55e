// `bun run bench --accelerators`: each accelerator on and off in turn, on a quiet machine and beside two busy loops. Prints
// the rows of src/fast/README.md.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fastVariable } from "../../src/fast/switches.ts";
import { busyLoops } from "../harness/busy-loops.ts";
import { cpuSeconds, type Daemon, residentKb } from "../harness/daemon.ts";
import { formatValue } from "../harness/format.ts";
import type { Unit } from "../harness/rows.ts";
import type { Bench } from "../harness/scenario.ts";
import { median } from "../harness/statistics.ts";
import type { Probe } from "./probes.ts";
import type { Accelerator } from "./table.ts";

const root = join(import.meta.dir, "../..");
/** Samples of each side, on a quiet machine and under load. */
const rounds = { quiet: 5, loaded: 3 };
const loops = 2;

interface Figures {
  on: number;
  off: number;
}

interface Measured {
  probe: Probe;
  quiet: Figures;
  loaded: Figures;
  cpuS: Figures;
  memoryKb: Figures;
}

const header = `| accelerator | what it does | gain, quiet | gain, loaded | cost |
|---|---|---|---|---|`;

export async function benchAccelerators(
  bench: Bench,
  chosen: Accelerator[],
  say: (text: string) => void,
): Promise<void> {
  console.log(header);
  for (const accelerator of chosen) {
    const measured: Measured[] = [];
    for (const probe of accelerator.probes) {
      say(`${accelerator.name}: ${probe.name}`);
      measured.push(await measure(bench, accelerator, probe));
    }
    console.log(rowOf(accelerator, measured));
  }
}

async function measure(bench: Bench, { name }: Accelerator, probe: Probe): Promise<Measured> {
  await using on = await bench.daemon({ env: { [fastVariable]: "all" } });
  await using off = await bench.daemon({ env: { [fastVariable]: `-${name}` } });
  await using onProbe = await probe.start(bench, on);
  await using offProbe = await probe.start(bench, off);
  const inTurn = async (count: number): Promise<Figures> => {
    const samples = { on: [] as number[], off: [] as number[] };
    for (let i = 0; i < count; i++) {
      samples.on.push(await onProbe.sample());
      samples.off.push(await offProbe.sample());
    }
    return { on: median(samples.on), off: median(samples.off) };
  };
  const both = (figure: (daemon: Daemon) => number) => ({ on: figure(on), off: figure(off) });
  const cpuBefore = both(({ pid }) => cpuSeconds(pid) ?? 0);
  const quiet = await inTurn(rounds.quiet);
  const cpuAfter = both(({ pid }) => cpuSeconds(pid) ?? 0);
  const memoryKb = both(({ pid }) => treeKb(pid));
  using _load = busyLoops(loops);
  const loaded = await inTurn(rounds.loaded);
  const cpuS = { on: cpuAfter.on - cpuBefore.on, off: cpuAfter.off - cpuBefore.off };
  return { probe, quiet, loaded, cpuS, memoryKb };
}

/** Of the daemon and of the processes that it has started, such as shells that wait. */
function treeKb(pid: number): number {
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((each) => parentOf(each) === pid);
  return [pid, ...children].reduce((sum, each) => sum + (residentKb(each) ?? 0), 0);
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch {
    return undefined;
  }
}

function rowOf({ name, about, risk, code }: Accelerator, measured: Measured[]): string {
  const gains = (pick: (each: Measured) => Figures) =>
    measured.map((each) => `${each.probe.name}: ${gainOf(pick(each), each.probe.unit)}`).join("<br>");
  const memoryMb = median(measured.map(({ memoryKb }) => (memoryKb.on - memoryKb.off) / 1000));
  const cpu = median(measured.map(({ cpuS }) => (cpuS.off > 0 ? (cpuS.on / cpuS.off - 1) * 100 : 0)));
  const costs = [
    `${code.reduce((sum, path) => sum + linesIn(join(root, path)), 0)} lines`,
    `${signed(memoryMb)} MB`,
    `${signed(cpu)} % CPU of the daemon`,
    risk,
  ];
  return `| \`${name}\` | ${about} | ${gains(({ quiet }) => quiet)} | ${gains(({ loaded }) => loaded)} | ${costs.join("; ")} |`;
}

/** Without it, with it, and how much less time or how much more throughput that is. */
function gainOf({ on, off }: Figures, unit: Unit): string {
  const gain = unit === "ms" ? 1 - on / off : on / off - 1;
  return `${formatValue(off, unit)} → ${formatValue(on, unit)} (${signed(gain * 100)} %)`;
}

const signed = (value: number): string => `${value < 0 ? "" : "+"}${value.toFixed(0)}`;

function linesIn(path: string): number {
  if (statSync(path).isDirectory())
    return readdirSync(path).reduce((sum, name) => sum + linesIn(join(path, name)), 0);
  return readFileSync(path, "utf8").split("\n").length - 1;
}
