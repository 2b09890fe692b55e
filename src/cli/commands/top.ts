// trl top: shows live what runs.
import { type ArgsDef, defineCommand } from "citty";
import { checkFlags, refuseWords } from "../check-flags.ts";
import type { DaemonClient } from "../client.ts";
import { connect, socketArgs, socketPathFrom } from "../connection.ts";
import { CliError, lostDaemon, usageExitCode } from "../errors.ts";
import { secondsFrom } from "../numbers.ts";
import { stdoutPaint } from "../ui/paint.ts";
import { jsonArgs, print, printJson } from "../ui/print.ts";
import { stdoutLook } from "../ui/table.ts";
import { FullScreen } from "../ui/terminal/full-screen.ts";
import { isOnTerminal } from "../ui/terminal/user-terminal.ts";
import { type Sample, type SortName, sortNames, takeSample } from "../ui/top-sample.ts";
import { maxScroll, plainLines, type View, visibleRows, windowLines } from "../ui/top-view.ts";

const args = {
  ...socketArgs,
  interval: { type: "string", alias: "n", valueHint: "S", description: "Seconds between two looks (1)" },
  sort: { type: "string", valueHint: sortNames.join("|"), description: "Order (elapsed)" },
  once: { type: "boolean", description: "Print it once and end, as away from a terminal" },
  ...jsonArgs,
} as const satisfies ArgsDef;

export default defineCommand({
  meta: { name: "top", description: "Watch what runs where, for how long, and how much it prints" },
  args,
  async run({ args: given, rawArgs }) {
    checkFlags(rawArgs, args);
    refuseWords(given._);
    const intervalMs = intervalFrom(given.interval);
    const sort = sortFrom(given.sort);
    using client = await connect(socketPathFrom(given));
    const { version } = await client.call("system.ping", {});
    const view = { version, sort, isReversed: false, scrolled: 0, isStale: false, paint: stdoutPaint() };
    const isLive = isOnTerminal() && process.env["TERM"] !== "dumb" && !given.once && !given.json;
    if (!isLive) await showOnce(client, view, given.json === true);
    else process.exitCode = await watch(client, view, intervalMs);
  },
});

/** A shorter interval only costs CPU time. */
const intervalMinS = 0.1;

function intervalFrom(text = "1"): number {
  const seconds = secondsFrom("--interval", text);
  if (seconds < intervalMinS) throw new CliError(`--interval is at least ${intervalMinS} s`, usageExitCode);
  return seconds * 1000;
}

function sortFrom(text = "elapsed"): SortName {
  const name = sortNames.find((it) => it === text);
  if (name) return name;
  throw new CliError(`--sort does not know "${text}"`, usageExitCode, `it may be ${sortNames.join(", ")}`);
}

/** Time between the two samples that give the rate. */
const onceMs = 300;

async function showOnce(client: DaemonClient, view: View, isJson: boolean): Promise<void> {
  const first = await takeSample(client);
  await Bun.sleep(onceMs);
  const sample = await takeSample(client, first);
  const { stats, rows, bytes_per_s } = sample;
  if (isJson) printJson({ version: view.version, ...stats, bytes_per_s, running: rows });
  else print(`${plainLines(sample, view, stdoutLook().width).join("\n")}\n`);
}

/** Without an answer for this long, the view is marked as stale. */
const lateMs = 3000;

async function watch(client: DaemonClient, view: View, intervalMs: number): Promise<number> {
  let sample: Sample | undefined;
  using screen = new FullScreen({
    key(key) {
      press(view, key, { rows: sample?.rows.length ?? 0, height: screen.size.rows });
      draw();
    },
    redraw: () => draw(),
  });
  const draw = () => {
    if (sample) screen.draw(windowLines(sample, view, screen.size));
  };
  let isOver = false;
  const look = async () => {
    while (!isOver) {
      const late = setTimeout(() => {
        view.isStale = true;
        draw();
      }, lateMs);
      sample = await takeSample(client, sample).finally(() => clearTimeout(late));
      view.isStale = false;
      draw();
      await Bun.sleep(intervalMs);
    }
    return 0;
  };
  const lost = Promise.withResolvers<number>();
  client.onClose.add(() => lost.reject(lostDaemon()));
  try {
    return await Promise.race([screen.ended, look(), lost.promise]);
  } finally {
    isOver = true;
    client.onClose.clear();
  }
}

const sortKeys: Record<string, SortName> = { e: "elapsed", o: "output", r: "rate", s: "session" };

interface Extent {
  rows: number;
  height: number;
}

function press(view: View, key: string, { rows, height }: Extent): void {
  const sort = Object.hasOwn(sortKeys, key) ? sortKeys[key] : undefined;
  if (sort) {
    view.isReversed = sort === view.sort && !view.isReversed;
    view.sort = sort;
    return;
  }
  const step = {
    "\x1b[A": -1,
    k: -1,
    "\x1b[B": 1,
    j: 1,
    "\x1b[5~": -visibleRows(height),
    "\x1b[6~": visibleRows(height),
  }[key];
  view.scrolled = Math.min(maxScroll(rows, height), Math.max(0, view.scrolled + (step ?? 0)));
}
