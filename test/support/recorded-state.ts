// Starts a daemon as the successor of one that is only recorded: a state file from a fixture, the bootstrap environment,
// and, for a state with running processes, a shell that starts such processes and then becomes the daemon.
import { FFIType } from "bun:ffi";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openLibrary } from "../../src/platform/c-library.ts";
import { createPipe, readClock } from "../../src/platform/libc.ts";
import { binary } from "./program.ts";
import { until } from "./wait.ts";
import { Wire } from "./wire.ts";

// biome-ignore lint/suspicious/noExplicitAny: a document of any version
type Document = any;

const directory = join(import.meta.dir, "../fixtures/upgrade");

/** CLOCK_BOOTTIME, from which the steady times of a document are taken on Linux. */
const steadyNow = () => readClock(7)!;

/** Times as if the document had been written just now; otherwise sessions would have expired long ago. */
function shiftTimes(value: Document, wallMs: number, steadyMs: number): void {
  for (const [name, field] of Object.entries(value)) {
    if (typeof field === "object" && field !== null) shiftTimes(field, wallMs, steadyMs);
    else if (/steadyms$/i.test(name)) value[name] = Number(field) + steadyMs;
    else if (/At$|^at$|^lastActivity$/.test(name) && Number(field) > 1e12)
      value[name] = Number(field) + wallMs;
  }
}

/** Of the daemon that restores the state; the numbers that the shell below gives to its descriptors. */
const fds = { state: 3, program: 4, master: 5, input: 6, output: 7 };

export interface RestoredDaemon extends AsyncDisposable {
  pid: number;
  connect(): Promise<Wire>;
  log(): string;
  exited: Promise<number>;
}

export interface RestoreSetup {
  dir: string;
  version: string;
  name: string;
  /** Changes of the recorded document. */
  edit?(document: Document): void;
  /** The executable for a rollback. */
  previous?: string;
  /** Lines of a shell that start processes: `$SLAVE` is a pty, 8 and 9 are pipes for standard input and output. */
  processes?: string;
}

/** Returns when the daemon has been started; `connect` waits until it listens. */
export async function restoreRecorded(setup: RestoreSetup): Promise<RestoredDaemon> {
  const { dir, version, name, edit, previous = binary, processes = "" } = setup;
  const path = (file: string) => join(dir, file);
  mkdirSync(path("run"));
  const { master, slave } = openPty();
  const [input, output] = [createPipe(), createPipe()];
  const inherited = [
    ...[openSync(path("state"), "w+"), openSync(previous, "r"), master],
    ...[input.writeFd, output.readFd, input.readFd, output.writeFd],
  ];
  const { program, state, ...descriptors } = fds;
  const environment = {
    ...{ kind: "forth", parcelFd: state, programFd: program, descriptors: Object.values(descriptors) },
    ...{ argv: [previous], version: "0.0.1" },
  };
  const launcher = `${processes}
exec 8<&- 9>&-
echo started >started
until [ -s written ]; do sleep 0.01; done
exec "$@"`;
  const child = Bun.spawn(
    ["sh", "-c", launcher, "sh", binary, "serve", "--socket-path", path("trl.sock"), "--allow-root"],
    {
      cwd: dir,
      env: {
        ...{ PATH: process.env["PATH"], HOME: dir, LANG: "C.UTF-8", TRL_RUNTIME_DIR: dir, SLAVE: slave },
        TRL_HANDOVER: JSON.stringify(environment),
      },
      stdio: ["ignore", "ignore", "pipe", ...inherited],
    },
  );
  let log = "";
  const logRead = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stderr) log += decoder.decode(chunk, { stream: true });
  })();
  for (const fd of inherited.slice(1)) closeSync(fd);
  await until("the processes", () => Bun.file(path("started")).size);
  const document = documentFor(child.pid, setup);
  edit?.(document);
  const bytes = readFileSync(join(directory, version, `${name}.bytes`)); // begins with the header of the state file
  writeFileSync(inherited[0]!, Buffer.concat([bytes, Buffer.from(JSON.stringify(document))]));
  closeSync(inherited[0]!);
  writeFileSync(path("written"), "yes");
  return {
    pid: child.pid,
    connect: () =>
      until("the daemon", () => {
        if (child.exitCode !== null) throw new Error(`the daemon ended with ${child.exitCode}:\n${log}`);
        return Wire.connect(path("trl.sock")).catch(() => undefined);
      }),
    log: () => log,
    exited: child.exited,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.exited;
      await logRead;
    },
  };
}

/** The recorded document for this machine and this moment, in a daemon with that pid. */
function documentFor(pid: number, { dir, version, name }: RestoreSetup): Document {
  const document = JSON.parse(readFileSync(join(directory, version, `${name}.json`), "utf8"));
  shiftTimes(document, Date.now() - document.writtenAt, steadyNow() - document.writtenSteadyMs);
  delete document.lockFd; // the daemon listens anew, and holds no lock
  delete document.unix;
  Object.assign(document.core.custody, { adopted: [], met: [] }); // the pids are of other processes by now
  const [tag] = /\d+:\/tmp\/trl-recorded-\w+\/trl\.sock/.exec(JSON.stringify(document))!;
  return JSON.parse(
    JSON.stringify(document)
      .replaceAll(document.runDir, join(dir, "run"))
      .replaceAll(tag, `${pid}:${join(dir, "trl.sock")}`),
  );
}

/** Puts the pid and the descriptors of a running process into the recorded command, and into the recorded terminal. */
export function replaceProcesses(
  { core }: Document,
  command: { pid: number },
  terminal: { pid: number },
): void {
  const { running } = core.sessions.find(({ running }: Document) => running);
  Object.assign(running.command, { pid: command.pid, stdoutFd: fds.output });
  delete running.command.stderrFd;
  running.command.input.fd = fds.input;
  const live = core.terminals.find(({ live }: Document) => live);
  live.pid = terminal.pid;
  live.live.masterFd = fds.master;
}

function openPty(): { master: number; slave: string } {
  const { i32, cstring } = FFIType;
  const libc = openLibrary({
    posix_openpt: { args: [i32], returns: i32 },
    grantpt: { args: [i32], returns: i32 },
    unlockpt: { args: [i32], returns: i32 },
    ptsname: { args: [i32], returns: cstring },
  });
  const readWriteNoControl = 0o402;
  const master = libc.posix_openpt(readWriteNoControl);
  if (master < 0 || libc.grantpt(master) !== 0 || libc.unlockpt(master) !== 0) throw new Error("no pty");
  return { master, slave: String(libc.ptsname(master)) };
}
