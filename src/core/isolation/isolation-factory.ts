// Makes the isolation that a client requests and tries it, or refuses with the reason. Never provides less than requested.
import { appendFileSync } from "node:fs";
import { processTable } from "../../platform/process-table.ts";
import { TrlError } from "../../protocol/errors.ts";
import type { Isolation } from "../../protocol/isolation.ts";
import type { CgroupsState, IsolationState, IsolationsState } from "../../upgrade/schema/document.ts";
import { runHelper } from "../process/helper-program.ts";
import type { ProcessOwnership } from "../process/ownership.ts";
import { bwrapProcesses } from "./bubblewrap-linux.ts";
import { type Ability, Capabilities } from "./capabilities.ts";
import { type CgroupLimits, type Controller, cgroupListName, isShortcoming } from "./cgroup.ts";
import { escapePaths } from "./escape-paths.ts";
import { PrivateTmpDirs } from "./private-tmp.ts";
import { requireRoot, resolveSandbox } from "./resolve-sandbox.ts";
import {
  type Confinement,
  type RequestedLimits,
  SessionIsolation,
  type SessionIsolationSpec,
} from "./session-isolation.ts";
import { trialStart } from "./trial-start.ts";

export interface IsolationFactoryOptions {
  env: Record<string, string>;
  runDir: string;
  /** Files of the daemon, which a sandbox hides. */
  secretPaths: string[];
  /** Runtime directories with discovery files of this user's daemons. */
  runtimeDirs: string[];
  /** Applies to every session, also without a requested limit. 0 = no limit. */
  maxProcesses: number;
}

/** A trial takes about 10 ms. */
const trialTimeoutMs = 2000;

const controllerOf: Record<string, Controller> = { memory_bytes: "memory", cpu_percent: "cpu", pids: "pids" };

export class IsolationFactory {
  readonly #options: IsolationFactoryOptions;
  readonly #ownership: ProcessOwnership;
  #capabilities: Capabilities | undefined;
  #areCgroupsListed = false;
  readonly #tmpDirs = new PrivateTmpDirs();
  readonly #making = new Set<Promise<SessionIsolation>>();
  #trials = 0;

  constructor(options: IsolationFactoryOptions, ownership: ProcessOwnership, before?: IsolationsState) {
    this.#options = options;
    this.#ownership = ownership;
    if (!before?.cgroups) return;
    this.#capabilities = this.#capabilitiesWith(before.cgroups);
    this.#areCgroupsListed = before.cgroups.count > 0;
  }

  readonly #escapePaths = () => escapePaths(this.#options);

  /** True while no isolation is being made, so that an upgrade can serialize all of them. */
  get isAtRest(): boolean {
    return this.#making.size === 0 && this.#trials === 0;
  }

  /** An isolation that an upgrade hands over. */
  restore({ limits, confinement, cgroup }: IsolationState): SessionIsolation {
    const cgroups = this.#capabilities?.usedCgroups;
    const group =
      cgroup === undefined || !cgroups
        ? { cgroup: undefined, version: undefined }
        : { cgroup: cgroups.find(cgroup), version: cgroups.version };
    return new SessionIsolation({
      limits,
      confinement: confinement as Confinement,
      ...group,
      escapePaths: this.#escapePaths,
    });
  }

  pack(): CgroupsState | undefined {
    return this.#capabilities?.usedCgroups?.pack();
  }

  get capabilities(): Capabilities {
    this.#capabilities ??= this.#capabilitiesWith(undefined);
    return this.#capabilities;
  }

  #capabilitiesWith(known: CgroupsState | undefined): Capabilities {
    // The start time makes the name unique, since pids are reused.
    const startTime = processTable.entry(process.pid)?.startTime.replace(/\D/g, "") ?? "0";
    const name = `trl-${process.pid}-${startTime}`;
    return new Capabilities(name, this.#options.env["PATH"], (argv) => this.#trial(argv), known);
  }

  async #trial(argv: string[]): Promise<string | undefined> {
    this.#trials++;
    // bwrap may leave a process for a short time, which process ownership must not assign to a session.
    const env = this.#ownership.exemption.env;
    try {
      const { exitCode, signal, stderr } = await runHelper(this.#ownership, {
        argv,
        cwd: "/",
        env,
        timeoutMs: trialTimeoutMs,
      });
      return exitCode === 0 ? undefined : stderr.split("\n")[0] || (signal ?? `exit code ${exitCode}`);
    } catch (error) {
      if (error instanceof TrlError) throw error; // the daemon is out of resources, which says nothing about the machine
      return (error as Error).message;
    } finally {
      this.#trials--;
    }
  }

  /** False if a session needs no isolation object, so that its creation stays synchronous. */
  isWanted(isolation: Isolation | undefined): boolean {
    if (isolation && Object.values(isolation).some((part) => part !== null && part !== undefined))
      return true;
    return this.#options.maxProcesses > 0 && this.capabilities.controller("pids").available;
  }

  /** Tries the isolation with the shell of the session. Undefined if none is needed. */
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
    const spec = { limits, confinement, escapePaths: this.#escapePaths };
    let sessionIsolation = new SessionIsolation({ ...spec, cgroup: undefined, version: undefined });
    try {
      sessionIsolation = new SessionIsolation({ ...spec, ...this.#cgroupFor(limits, confinement) });
      await trialStart(sessionIsolation, shell, this.#options.env, this.#ownership);
      return sessionIsolation;
    } catch (error) {
      await sessionIsolation.dispose();
      throw error;
    }
  }

  /** To be called when all processes have ended. */
  async close(): Promise<void> {
    const unfinished = await Promise.allSettled(this.#making);
    // Their requests are refused and dispose of them too, but the shutdown would not wait for that.
    for (const result of unfinished) if (result.status === "fulfilled") await result.value.dispose();
    this.#capabilities?.usedCgroups?.close();
  }

  #limitsOf({ limits }: Isolation): RequestedLimits {
    const requested = Object.entries(limits ?? {}).filter(([, value]) => typeof value === "number");
    const result: RequestedLimits = Object.fromEntries(requested);
    const { maxProcesses } = this.#options;
    if (maxProcesses > 0 && this.capabilities.controller("pids").available)
      result.pids = Math.min(maxProcesses, result.pids ?? maxProcesses);
    return result;
  }

  #requireLimits(limits: RequestedLimits): void {
    for (const [name, controller] of Object.entries(controllerOf))
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
    const secretPaths = [...this.#options.secretPaths, this.#options.runDir];
    const spec = resolveSandbox(sandbox, { root: realRoot, secretPaths, tmpDirs: this.#tmpDirs });
    if (process.platform !== "linux") return { kind: "sandbox-exec", sandbox: spec };
    return { kind: "bubblewrap", program: capabilities.bwrap!, sandbox: spec };
  }

  /** Also made if no limit needs it: a control group measures exactly and can be killed reliably. */
  #cgroupFor(
    limits: RequestedLimits,
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
    this.#listCgroups(cgroups.directories);
    try {
      return { cgroup: cgroups.create(wanted), version: cgroups.version };
    } catch (error) {
      if (Object.keys(wanted).length === 0) return none;
      const reason = (error as Error).message;
      throw new TrlError("UNSUPPORTED", `isolation.limits: the control group could not be made: ${reason}`);
    }
  }

  /** Writes their paths to the run directory, for crash recovery. */
  #listCgroups(directories: string[]): void {
    if (this.#areCgroupsListed) return;
    appendFileSync(
      `${this.#options.runDir}/${cgroupListName}`,
      directories.map((path) => `${path}\n`).join(""),
    );
    this.#areCgroupsListed = true;
  }
}

function requireAbility(field: string, ability: Ability): void {
  if (ability.available) return;
  throw new TrlError("UNSUPPORTED", `${field}: ${ability.reason}; ${ability.remedy}`);
}
