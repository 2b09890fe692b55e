// From what was asked for to an enclosure that has been tried, or a refusal that says why. Never less than was asked.
import { appendFileSync } from "node:fs";
import { processTable } from "../../platform/process-table.ts";
import { TrlError } from "../../protocol/errors.ts";
import type { Isolation } from "../../protocol/isolation.ts";
import type { CgroupsState, IsolationState, IsolationsState } from "../../upgrade/schema/document.ts";
import { runHelper } from "../process/helper-program.ts";
import type { ProcessOwnership } from "../process/ownership.ts";
import { recordName } from "./abandoned-cgroups.ts";
import { bwrapProcesses } from "./bubblewrap-linux.ts";
import { type Ability, Capabilities } from "./capabilities.ts";
import { type CgroupLimits, type Controller, isShortcoming } from "./cgroup.ts";
import { waysOut } from "./escape-paths.ts";
import { requireRoot, sandboxOf } from "./sandbox-request.ts";
import {
  type AskedLimits,
  type Confinement,
  SessionIsolation,
  type SessionIsolationSpec,
} from "./session-isolation.ts";
import { tryToStart } from "./trial-start.ts";

export interface IsolationFactoryOptions {
  env: Record<string, string>;
  runDir: string;
  /** What leads to the daemon: nobody in a sandbox may reach it. */
  secretPaths: string[];
  /** Where daemons of this user announce themselves. */
  runtimeDirs: string[];
  /** For every session, asked for or not; 0 = no limit. */
  maxProcesses: number;
}

/** A trial takes some 10 ms; should one hang, it is given up. */
const trialMs = 2000;

const needs: Record<string, Controller> = { memory_bytes: "memory", cpu_percent: "cpu", pids: "pids" };

export class IsolationFactory {
  readonly #options: IsolationFactoryOptions;
  readonly #ownership: ProcessOwnership;
  #capabilities: Capabilities | undefined;
  #isRecorded = false;
  readonly #making = new Set<Promise<SessionIsolation>>();
  #attempts = 0;

  constructor(options: IsolationFactoryOptions, ownership: ProcessOwnership, before?: IsolationsState) {
    this.#options = options;
    this.#ownership = ownership;
    if (!before?.cgroups) return;
    this.#capabilities = this.#capabilitiesWith(before.cgroups);
    this.#isRecorded = before.cgroups.count > 0;
  }

  readonly #waysOut = () => waysOut(this.#options);

  /** Nothing is just being made. */
  get isAtRest(): boolean {
    return this.#making.size === 0 && this.#attempts === 0;
  }

  /** What the daemon before us has made. */
  known({ limits, confinement, cgroup }: IsolationState): SessionIsolation {
    const cgroups = this.#capabilities?.usedCgroups;
    const kept =
      cgroup === undefined || !cgroups
        ? { cgroup: undefined, version: undefined }
        : { cgroup: cgroups.find(cgroup), version: cgroups.version };
    return new SessionIsolation({
      limits,
      confinement: confinement as Confinement,
      ...kept,
      waysOut: this.#waysOut,
    });
  }

  pack(): CgroupsState | undefined {
    return this.#capabilities?.usedCgroups?.pack();
  }

  /** Pids are used again: with the start time, the name is this daemon's alone. */
  get capabilities(): Capabilities {
    this.#capabilities ??= this.#capabilitiesWith(undefined);
    return this.#capabilities;
  }

  #capabilitiesWith(known: CgroupsState | undefined): Capabilities {
    const startTime = processTable.entry(process.pid)?.startTime.replace(/\D/g, "") ?? "0";
    const name = `trl-${process.pid}-${startTime}`;
    return new Capabilities(name, this.#options.env["PATH"], (argv) => this.#attempt(argv), known);
  }

  async #attempt(argv: string[]): Promise<string | undefined> {
    this.#attempts++;
    // What bwrap leaves for a moment is no session's.
    const env = this.#ownership.exemption.env;
    try {
      const { exitCode, signal, stderr } = await runHelper(this.#ownership, {
        argv,
        cwd: "/",
        env,
        timeoutMs: trialMs,
      });
      return exitCode === 0 ? undefined : stderr.split("\n")[0] || (signal ?? `exit code ${exitCode}`);
    } catch (error) {
      if (error instanceof TrlError) throw error; // the daemon lacks something, and not the machine
      return (error as Error).message;
    } finally {
      this.#attempts--;
    }
  }

  /** Whether there is anything to be done, so that it need not be waited for. */
  isWanted(isolation: Isolation | undefined): boolean {
    if (isolation && Object.values(isolation).some((part) => part !== null && part !== undefined))
      return true;
    return this.#options.maxProcesses > 0 && this.capabilities.controller("pids").available;
  }

  /** Tried with the shell that will be used. Undefined where nothing was asked for. */
  async make(isolation: Isolation | undefined, shell: string): Promise<SessionIsolation | undefined> {
    if (!this.isWanted(isolation)) return undefined;
    const made = this.#make(isolation, shell);
    this.#making.add(made);
    return await made.finally(() => this.#making.delete(made));
  }

  async #make(isolation: Isolation | undefined, shell: string): Promise<SessionIsolation> {
    const limits = this.#limitsOf(isolation ?? {});
    this.#requireLimits(limits);
    const confinement = await this.#confinementOf(isolation ?? {});
    const spec = { limits, confinement, waysOut: this.#waysOut };
    let sessionIsolation = new SessionIsolation({ ...spec, cgroup: undefined, version: undefined });
    try {
      sessionIsolation = new SessionIsolation({ ...spec, ...this.#cgroupFor(limits, confinement) });
      await tryToStart(sessionIsolation, shell, this.#options.env, this.#ownership);
      return sessionIsolation;
    } catch (error) {
      await sessionIsolation.dispose();
      throw error;
    }
  }

  /** To be called when everything has ended. */
  async close(): Promise<void> {
    const unfinished = await Promise.allSettled(this.#making);
    // Whoever asked for it is about to be refused, and gives it back; but nobody would wait for that.
    for (const result of unfinished) if (result.status === "fulfilled") await result.value.dispose();
    this.#capabilities?.usedCgroups?.close();
  }

  #limitsOf({ limits }: Isolation): AskedLimits {
    const asked = Object.entries(limits ?? {}).filter(([, value]) => typeof value === "number");
    const result: AskedLimits = Object.fromEntries(asked);
    const { maxProcesses } = this.#options;
    if (maxProcesses > 0 && this.capabilities.controller("pids").available)
      result.pids = Math.min(maxProcesses, result.pids ?? maxProcesses);
    return result;
  }

  #requireLimits(limits: AskedLimits): void {
    for (const [name, controller] of Object.entries(needs))
      if (name in limits)
        requireAbility(`isolation.limits.${name}`, this.capabilities.controller(controller));
  }

  async #confinementOf({ root, sandbox }: Isolation): Promise<Confinement> {
    const { capabilities } = this;
    const realRoot = root ? requireRoot(root) : "/";
    if (!sandbox) {
      if (!root) return { kind: "none" };
      requireAbility("isolation.root", capabilities.root);
      return { kind: "chroot", root: realRoot, unshare: capabilities.unshare! };
    }
    requireAbility("isolation.sandbox", await capabilities.sandbox);
    if (root && process.platform !== "linux")
      throw new TrlError("UNSUPPORTED", "isolation.root: sandbox-exec cannot change the root directory");
    const spec = sandboxOf(sandbox, realRoot, [...this.#options.secretPaths, this.#options.runDir]);
    if (process.platform !== "linux") return { kind: "sandbox-exec", sandbox: spec };
    return { kind: "bubblewrap", program: capabilities.bwrap!, sandbox: spec };
  }

  /** Also where no limit needs one: it counts exactly, and what is in it can be ended for certain. */
  #cgroupFor(
    limits: AskedLimits,
    confinement: Confinement,
  ): Pick<SessionIsolationSpec, "cgroup" | "version"> {
    const none = { cgroup: undefined, version: undefined };
    const { cgroups } = this.capabilities;
    if (isShortcoming(cgroups)) return none;
    const extra = confinement.kind === "bubblewrap" ? bwrapProcesses : 0;
    const wanted: CgroupLimits = {
      ...(limits.memory_bytes === undefined ? {} : { memoryBytes: limits.memory_bytes }),
      ...(limits.cpu_percent === undefined ? {} : { cpuPercent: limits.cpu_percent }),
      ...(limits.pids === undefined ? {} : { pids: limits.pids + extra }),
    };
    this.#record(cgroups.directories);
    try {
      return { cgroup: cgroups.create(wanted), version: cgroups.version };
    } catch (error) {
      if (Object.keys(wanted).length === 0) return none;
      const reason = (error as Error).message;
      throw new TrlError("UNSUPPORTED", `isolation.limits: the control group could not be made: ${reason}`);
    }
  }

  /** Should the daemon be killed, its successor finds them by this. */
  #record(directories: string[]): void {
    if (this.#isRecorded) return;
    appendFileSync(`${this.#options.runDir}/${recordName}`, directories.map((path) => `${path}\n`).join(""));
    this.#isRecorded = true;
  }
}

function requireAbility(field: string, ability: Ability): void {
  if (ability.available) return;
  throw new TrlError("UNSUPPORTED", `${field}: ${ability.reason}; ${ability.remedy}`);
}
