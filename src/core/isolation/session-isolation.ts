// What one session or terminal is kept in: its control group, the limits that its processes inherit, its root, its
// sandbox. A session without isolation has none, and pays for none.
import { basename } from "node:path";
import type { IsolationInfo, Limits } from "../../protocol/isolation.ts";
import type { MeterState } from "../../upgrade/schema/commands.ts";
import type { IsolationState } from "../../upgrade/schema/document.ts";
import { bubblewrapPrefix } from "./bubblewrap-linux.ts";
import type { Cgroup, Cgroups } from "./cgroup.ts";
import type { InsideView } from "./inside-paths.ts";
import { launchPrefix } from "./launch-prefix.ts";
import { Meter } from "./meter.ts";
import { hiddenInside, removePrivateTmp } from "./resolve-sandbox.ts";
import { sandboxExecPrefix } from "./sandbox-exec-darwin.ts";
import type { SandboxSpec } from "./sandbox-spec.ts";

/** Of those that were asked for. */
export type AskedLimits = { [Name in keyof Limits]?: number };

export type Confinement =
  | { kind: "none" }
  | { kind: "chroot"; root: string; unshare: string }
  | { kind: "bubblewrap"; program: string; sandbox: Omit<SandboxSpec, "ownDir"> }
  | { kind: "sandbox-exec"; sandbox: Omit<SandboxSpec, "ownDir"> };

export interface SessionIsolationSpec {
  limits: AskedLimits;
  cgroup: Cgroup | undefined;
  version: Cgroups["version"] | undefined;
  confinement: Confinement;
  /** Paths by which a program in a sandbox could reach others outside, as they are now. */
  waysOut(): string[];
}

export interface Place {
  /** As those inside see it. */
  workingDir: string;
  /** The files of the shell that is started, if it has any. */
  ownDir?: string;
}

export class SessionIsolation {
  readonly #spec: SessionIsolationSpec;

  constructor(spec: SessionIsolationSpec) {
    this.#spec = spec;
  }

  get cgroup(): Cgroup | undefined {
    return this.#spec.cgroup;
  }

  get limits(): AskedLimits {
    return this.#spec.limits;
  }

  /** In another root a shell finds neither its files nor the descriptors by which it is told its state. */
  get canKeepState(): boolean {
    return this.#spec.confinement.kind !== "chroot";
  }

  /** Where paths inside differ from the daemon's. */
  get view(): InsideView | undefined {
    const { confinement } = this.#spec;
    if (confinement.kind === "chroot") return { root: confinement.root, mounts: [] };
    if (confinement.kind !== "bubblewrap") return undefined;
    const { root, privateTmp, writable } = confinement.sandbox;
    const own = privateTmp === undefined ? [] : [{ inside: "/tmp", host: privateTmp }];
    const shown = writable.map((path) => ({ inside: path, host: root === "/" ? path : root + path }));
    return { root, mounts: [...own, ...shown] };
  }

  /** Another place for temporary files than /tmp would be read-only; and where /tmp cannot be private, TMPDIR is. */
  withTmpDir(env: Record<string, string>): Record<string, string> {
    const { confinement } = this.#spec;
    const tmp = "sandbox" in confinement ? confinement.sandbox.privateTmp : undefined;
    if (tmp === undefined) return env;
    if (confinement.kind === "sandbox-exec") return { ...env, TMPDIR: tmp };
    return env["TMPDIR"] === undefined ? env : { ...env, TMPDIR: "/tmp" };
  }

  /** What a sandbox that is made now hides of others outside; empty where there is none. */
  get hiddenNow(): string[] {
    const { confinement, waysOut } = this.#spec;
    return "sandbox" in confinement ? hiddenInside(waysOut(), confinement.sandbox) : [];
  }

  /** The words that start a program inside, and where they are to be started. */
  wrap(argv: string[], { workingDir, ownDir }: Place): { argv: [string, ...string[]]; cwd: string } {
    const { cgroup, limits, confinement } = this.#spec;
    const { cpu_time_s: cpuTimeS, open_files: openFiles, file_size_bytes: fileSizeBytes } = limits;
    const prefix = launchPrefix(cgroup?.entrances ?? [], {
      ...(cpuTimeS === undefined ? {} : { cpuTimeS }),
      ...(openFiles === undefined ? {} : { openFiles }),
      ...(fileSizeBytes === undefined ? {} : { fileSizeBytes }),
    });
    const whole = [...prefix, ...this.#confine(workingDir, ownDir), ...argv] as [string, ...string[]];
    const isElsewhere = confinement.kind === "chroot" || confinement.kind === "bubblewrap";
    return { argv: whole, cwd: isElsewhere ? "/" : workingDir };
  }

  #confine(workingDir: string, ownDir: string | undefined): string[] {
    const { confinement } = this.#spec;
    switch (confinement.kind) {
      case "none":
        return [];
      case "chroot":
        return [confinement.unshare, `--root=${confinement.root}`, `--wd=${workingDir}`, "--"];
      case "bubblewrap":
        return bubblewrapPrefix(confinement.program, this.#sandbox(confinement.sandbox, ownDir), workingDir);
      case "sandbox-exec":
        return sandboxExecPrefix(this.#sandbox(confinement.sandbox, ownDir));
    }
  }

  #sandbox(standing: Omit<SandboxSpec, "ownDir">, ownDir: string | undefined): SandboxSpec {
    return { ...standing, ownDir, secrets: [...standing.secrets, ...this.hiddenNow] };
  }

  meter(begun?: MeterState): Meter {
    const { cgroup, limits, confinement } = this.#spec;
    const metered = { cpuTimeS: limits.cpu_time_s, fileSizeBytes: limits.file_size_bytes };
    return new Meter(cgroup, metered, confinement.kind !== "bubblewrap", begun);
  }

  /** bwrap's own processes are no leftovers of a command; one that is just ending has a name only. */
  isMachinery(commandLine: string): boolean {
    const { confinement } = this.#spec;
    if (confinement.kind !== "bubblewrap") return false;
    const { program } = confinement;
    return commandLine.startsWith(`${program} --unshare-pid `) || commandLine === `[${basename(program)}]`;
  }

  info(): IsolationInfo {
    const { limits, confinement, version } = this.#spec;
    const sandbox = "sandbox" in confinement ? confinement.sandbox : undefined;
    const root = confinement.kind === "chroot" ? confinement.root : sandbox?.root;
    return {
      limits: Object.fromEntries(
        Object.entries(limits).map(([name, value]) => [name, { value, by: byOf(name, version) }]),
      ),
      cgroup: version ?? null,
      root: root === undefined || root === "/" ? null : root,
      sandbox: sandbox
        ? {
            by: confinement.kind,
            writable: sandbox.writable,
            hidden: sandbox.hidden,
            network: sandbox.network,
            private_tmp: sandbox.privateTmp !== undefined,
          }
        : null,
    };
  }

  pack(): IsolationState {
    const { limits, cgroup, confinement } = this.#spec;
    return { limits, confinement, cgroup: cgroup?.name };
  }

  /** Whoever is still in it is dead when this resolves. False where something could not be removed. */
  async dispose(): Promise<boolean> {
    const { cgroup, confinement } = this.#spec;
    const isGone = (await cgroup?.destroy()) ?? true;
    const tmp = "sandbox" in confinement ? confinement.sandbox.privateTmp : undefined;
    return (tmp === undefined || removePrivateTmp(tmp)) && isGone;
  }
}

function byOf(limit: string, version: Cgroups["version"] | undefined): string {
  if (limit === "wall_clock_s") return "the daemon's clock";
  if (["memory_bytes", "cpu_percent", "pids"].includes(limit)) return `cgroup ${version}`;
  return limit === "cpu_time_s" && version ? `cgroup ${version} and rlimit` : "rlimit";
}
