// Install, uninstall and status of the service, for any service manager.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { tryConnect } from "../connection.ts";
import { CliError, unavailableExitCode, usageExitCode } from "../errors.ts";
import { type Answer, queryProgram } from "../query-program.ts";
import { quoteWords } from "../shell-words.ts";
import {
  type Command,
  readMarker,
  type ServiceManager,
  type ServicePlan,
  type ServiceState,
} from "./manager.ts";

export interface ServiceStatus {
  manager: string;
  path: string;
  installed: boolean;
  enabled: boolean;
  active: boolean;
  pid: number | null;
  socket: string | null;
  notes: string[];
}

const startTimeoutMs = 5000;
const commandLimitMs = 30_000;
/** More than the 15 s that launchd gives the daemon to end. */
const transientMaxMs = 20_000;

export async function install(
  manager: ServiceManager,
  plan: ServicePlan,
  isForced: boolean,
): Promise<ServiceStatus> {
  const before = refuseUnlessOurs(manager, isForced);
  const text = manager.fileText(plan);
  write(manager.file, text);
  const obstacle = await manager.whyUnreachable();
  if (obstacle) throw notStarted(manager, obstacle);
  const { isActive, isEnabled } = await manager.state();
  if (isActive) return await keepRunning(manager, before !== text);
  if (await isTaken(plan.socketPath)) return await startLater(manager, plan);
  await runAll(manager, isEnabled ? manager.startAgain : manager.enableAndStart);
  await untilListening(manager, plan.socketPath);
  const advice = await manager.advice();
  return await statusOf(manager, advice ? [advice] : []);
}

/** A restart would end the sessions, so a running service keeps its old settings. */
async function keepRunning(manager: ServiceManager, hasChanged: boolean): Promise<ServiceStatus> {
  await runAll(manager, manager.enable);
  const how = `it runs with its old settings; for the new ones, which ends its sessions: ${manager.restart}`;
  return await statusOf(manager, hasChanged ? [how] : []);
}

async function startLater(manager: ServiceManager, { socketPath }: ServicePlan): Promise<ServiceStatus> {
  await runAll(manager, manager.enable);
  const why = `another daemon listens on ${socketPath}, so that the service was not started now`;
  return await statusOf(manager, [`${why}; end that one, then: ${inShell(manager.enableAndStart)}`]);
}

/** False if the service was not installed. */
export async function uninstall(manager: ServiceManager, isForced: boolean): Promise<boolean> {
  if (refuseUnlessOurs(manager, isForced) === undefined) return false;
  const isReachable = !(await manager.whyUnreachable());
  const { isEnabled, isActive, pid } = isReachable ? await manager.state() : notKnown;
  if (isEnabled || isActive) await runAll(manager, manager.stopAndDisable);
  if (pid !== null) await untilEnded(pid);
  rmSync(manager.file, { force: true });
  if (isReachable) await runAll(manager, manager.afterRemoval);
  return true;
}

const notKnown: ServiceState = { isEnabled: false, isActive: false, pid: null };

/** launchd does not wait for the daemon, and an installation right afterwards would find its socket taken. */
async function untilEnded(pid: number): Promise<void> {
  const deadline = performance.now() + transientMaxMs;
  while (isAlive(pid) && performance.now() < deadline) await Bun.sleep(20);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export async function statusOf(manager: ServiceManager, notes: string[] = []): Promise<ServiceStatus> {
  const text = read(manager.file);
  const obstacle = await manager.whyUnreachable();
  const { isEnabled, isActive, pid } = obstacle
    ? { isEnabled: false, isActive: false, pid: null }
    : await manager.state();
  const isForeign = text !== undefined && !readMarker(text);
  return {
    manager: manager.name,
    path: manager.file,
    installed: text !== undefined,
    enabled: isEnabled,
    active: isActive,
    pid,
    socket: readMarker(text ?? "")?.socket ?? null,
    notes: [
      ...notes,
      ...(obstacle ? [obstacle] : []),
      ...(isForeign ? ["the file was not written by trl: its socket is not known here"] : []),
    ],
  };
}

/** Returns the file's text. */
function refuseUnlessOurs({ file }: ServiceManager, isForced: boolean): string | undefined {
  const text = read(file);
  if (text === undefined || readMarker(text) || isForced) return text;
  throw new CliError(`${file} was not written by trl`, usageExitCode, "--force does it nevertheless");
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Atomic, by rename. */
function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, text, { mode: 0o644 });
  renameSync(fresh, file);
}

function notStarted(manager: ServiceManager, obstacle: string): CliError {
  const hint = `where there is one: ${inShell(manager.enableAndStart)}; until then: trl serve`;
  return new CliError(
    `${obstacle}: ${manager.file} was written, but nothing was started`,
    unavailableExitCode,
    hint,
    "UNSUPPORTED",
  );
}

async function runAll(manager: ServiceManager, commands: Command[]): Promise<void> {
  for (const command of commands) {
    const answer = await runWhileTransient(manager, command);
    if (answer?.code === 0 || (answer && manager.judge?.(command, answer.code) === "done")) continue;
    const said = answer?.isLate ? "it took too long" : (answer?.err || answer?.out || "").trim();
    throw new CliError(`${quoteWords(command)} failed: ${said || "it did not say why"}`, unavailableExitCode);
  }
}

async function runWhileTransient(manager: ServiceManager, command: Command): Promise<Answer | undefined> {
  const deadline = performance.now() + transientMaxMs;
  for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 1000)) {
    const answer = await queryProgram(command, { limitMs: commandLimitMs, env: manager.env });
    const isTransient = answer !== undefined && manager.judge?.(command, answer.code) === "transient";
    if (!isTransient || performance.now() + pauseMs > deadline) return answer;
    await Bun.sleep(pauseMs);
  }
}

async function isTaken(socketPath: string): Promise<boolean> {
  using client = await tryConnect(socketPath);
  return client !== undefined;
}

async function untilListening(manager: ServiceManager, socketPath: string): Promise<void> {
  const deadline = performance.now() + startTimeoutMs;
  for (; !(await isTaken(socketPath)); await Bun.sleep(20)) {
    if (performance.now() < deadline) continue;
    throw new CliError(
      `the service was started, but no daemon listens on ${socketPath}`,
      unavailableExitCode,
      `see why with: ${manager.whereItsLogIs}`,
    );
  }
}

export const inShell = (commands: Command[]): string => commands.map(quoteWords).join(" && ");
