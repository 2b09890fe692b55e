// A daemon to measure, in a directory of its own.
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { compileLater } from "../../src/util/engine-settings.ts";
import { leaving } from "./leavings.ts";
import { tempDir } from "./temp-dir.ts";
import { Wire } from "./wire.ts";

const root = join(import.meta.dir, "../..");
export const ownBinary = join(root, "dist/trl");

/** What is measured is what would be released: a stale executable would be worse than none. */
export function requireFresh(binary: string): void {
  if (!existsSync(binary)) throw new Error(`${binary} is missing: run \`bun run build\` first`);
  if (binary !== ownBinary) return;
  const builtAt = statSync(binary).mtimeMs;
  for (const file of new Bun.Glob("src/**/*.ts").scanSync(root)) {
    if (statSync(join(root, file)).mtimeMs > builtAt)
      throw new Error(`dist/trl is older than ${file}: run \`bun run build\``);
  }
}

export interface Daemon extends AsyncDisposable {
  socketPath: string;
  pid: number;
  connect(): Promise<Wire>;
}

export interface DaemonSetup {
  binary: string;
  flags?: string[];
  /** What stands before it on the command line. */
  prefix?: string[];
  env?: Record<string, string>;
}

export const daemonCommand = (binary: string, socketPath: string, flags: string[] = []): string[] => [
  binary,
  "serve",
  "--socket-path",
  socketPath,
  "--allow-root",
  "--session-max-commands",
  "0",
  "--max-sessions",
  "20000",
  ...flags,
];

export async function startDaemon({
  binary,
  flags = [],
  prefix = [],
  env = {},
}: DaemonSetup): Promise<Daemon> {
  const dir = tempDir();
  const socketPath = join(dir.path, "trl.sock");
  const child = Bun.spawn([...prefix, ...daemonCommand(binary, socketPath, flags)], {
    stdio: ["ignore", "ignore", "ignore"],
    // As trl itself would start it.
    env: { ...compileLater, ...process.env, TRL_RUNTIME_DIR: dir.path, ...env },
  });
  const isGone = leaving(() => child.kill());
  while (!(await isAccepting(socketPath))) {
    if (child.exitCode !== null) throw new Error(`the daemon ended with ${child.exitCode}`);
    await Bun.sleep(1);
  }
  return {
    socketPath,
    pid: child.pid,
    connect: () => Wire.connect(socketPath),
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
      isGone();
      dir[Symbol.dispose]();
    },
  };
}

async function isAccepting(socketPath: string): Promise<boolean> {
  const socket = await Bun.connect({ unix: socketPath, socket: { data() {} } }).catch(() => undefined);
  socket?.end();
  return socket !== undefined;
}

const ticksPerSecond = 100;

/** Of the process, as the kernel counts it; undefined where there is no /proc. */
export function cpuSeconds(pid: number): number | undefined {
  const stat = readProc(pid, "stat");
  if (!stat) return undefined;
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

export function residentKb(pid: number, field: "VmRSS" | "VmHWM" = "VmRSS"): number | undefined {
  const found = new RegExp(`${field}:\\s+(\\d+)`).exec(readProc(pid, "status") ?? "");
  return found ? Number(found[1]) : undefined;
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return undefined;
  }
}
