// What one session or terminal is confined in: its control group, resource limits, root directory and sandbox. A session
// without isolation has no object of this class.
import { basename } from "node:path";
import type { IsolationInfo, Limits } from "../../protocol/isolation.ts";
import type { MeterState } from "../../upgrade/schema/commands.ts";
import type { IsolationState } from "../../upgrade/schema/document.ts";
import { bubblewrapPrefix } from "./bubblewrap-linux.ts";
import type { Cgroup, Cgroups } from "./cgroup.ts";
import type { InsideView } from "./inside-paths.ts";
import { launchPrefix } from "./launch-prefix.ts";
import { Meter } from "./meter.ts";
import { removePrivateTmp } from "./private-tmp.ts";
import { hiddenInside } from "./resolve-sandbox.ts";
import { sandboxExecPrefix } from "./sandbox-exec-darwin.ts";
import type { SandboxSpec } from "./sandbox-spec.ts";

/** The limits that the client has requested. */
export type RequestedLimits = { [Name in keyof Limits]?: number };

export type Confinement =
  | { kind: "none" }
  | { kind: "chroot"; root: string; unshare: string }
  | { kind: "bubblewrap"; program: string; sandbox: Omit<SandboxSpec, "ownDir"> }
  | { kind: "sandbox-exec"; sandbox: Omit<SandboxSpec, "ownDir"> };

export interface SessionIsolationSpec {
  limits: RequestedLimits;
  cgroup: Cgroup | undefined;
  version: Cgroups["version"] | undefined;
  confinement: Confinement;
  /** The current paths by which a program could escape a sandbox. */
  escapePaths(): string[];
}

export interface LaunchDirs {
  /** As a path inside. */
  workingDir: string;
  /** The directory of the shell that is started, if it has one. */
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

  get limits(): RequestedLimits {
    return this.#spec.limits;
  }

  /** In another root a shell has no access to its files and the descriptors that pass its state. */
  get canKeepState(): boolean {
    return this.#spec.confinement.kind !== "chroot";
  }

  /** How paths inside map to host paths. Undefined if they are the same. */
  get view(): InsideView | undefined {
    const { confinement } = this.#spec;
    if (confinement.kind === "chroot") return { root: confinement.root, mounts: [] };
    if (confinement.kind !== "bubblewrap") return undefined;
    const { root, privateTmp, writable } = confinement.sandbox;
    const own = privateTmp === undefined ? [] : [{ inside: "/tmp", host: privateTmp }];
    const shown = writable.map((path) => ({ inside: path, host: root === "/" ? path : root + path }));
    return { root, mounts: [...own, ...shown] };
  }

  /** With bubblewrap an inherited TMPDIR is read-only, so it becomes /tmp. sandbox-exec has the private /tmp as TMPDIR. */
  withTmpDir(env: Record<string, string>): Record<string, string> {
    const { confinement } = this.#spec;
    const tmp = "sandbox" in confinement ? confinement.sandbox.privateTmp : undefined;
    if (tmp === undefined) return env;
    if (confinement.kind === "sandbox-exec") return { ...env, TMPDIR: tmp };
    return env["TMPDIR"] === undefined ? env : { ...env, TMPDIR: "/tmp" };
  }

  /** The escape paths that a sandbox started now hides. Empty without a sandbox. */
  get hiddenNow(): string[] {
    const { confinement, escapePaths } = this.#spec;
    return "sandbox" in confinement ? hiddenInside(escapePaths(), confinement.sandbox) : [];
  }

  /** The argv that starts a program inside, and the host directory to start it in. */
  wrap(argv: string[], { workingDir, ownDir }: LaunchDirs): { argv: [string, ...string[]]; cwd: string } {
    const { cgroup, limits, confinement } = this.#spec;
    const { cpu_time_s: cpuTimeS, open_files: openFiles, file_size_bytes: fileSizeBytes } = limits;
    const prefix = launchPrefix(cgroup?.entrances ?? [], {
      ...(cpuTimeS === undefined ? {} : { cpuTimeS }),
      ...(openFiles === undefined ? {} : { openFiles }),
      ...(fileSizeBytes === undefined ? {} : { fileSizeBytes }),
    });
    const whole = [...prefix, ...this.#confine(workingDir, ownDir), ...argv] as [string, ...string[]];
    const changesDir = confinement.kind === "chroot" || confinement.kind === "bubblewrap";
    return { argv: whole, cwd: changesDir ? "/" : workingDir };
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

  #sandbox(sandbox: Omit<SandboxSpec, "ownDir">, ownDir: string | undefined): SandboxSpec {
    return { ...sandbox, ownDir, secrets: [...sandbox.secrets, ...this.hiddenNow] };
  }

  meter(restored?: MeterState): Meter {
    const { cgroup, limits, confinement } = this.#spec;
    const metered = { cpuTimeS: limits.cpu_time_s, fileSizeBytes: limits.file_size_bytes };
    return new Meter(cgroup, metered, confinement.kind !== "bubblewrap", restored);
  }

  /** Recognizes bwrap's own processes. The command line of an ending process is its name in brackets. */
  isSandboxProcess(commandLine: string): boolean {
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
        Object.entries(limits).map(([name, value]) => [name, { value, by: mechanismOf(name, version) }]),
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

  /** Kills all members of the control group and removes all files. False if something could not be removed. */
  async dispose(): Promise<boolean> {
    const { cgroup, confinement } = this.#spec;
    const isRemoved = (await cgroup?.destroy()) ?? true;
    const tmp = "sandbox" in confinement ? confinement.sandbox.privateTmp : undefined;
    return (tmp === undefined || removePrivateTmp(tmp)) && isRemoved;
  }
}

function mechanismOf(limit: string, version: Cgroups["version"] | undefined): string {
  if (limit === "wall_clock_s") return "the daemon's clock";
  if (["memory_bytes", "cpu_percent", "pids"].includes(limit)) return `cgroup ${version}`;
  return limit === "cpu_time_s" && version ? `cgroup ${version} and rlimit` : "rlimit";
}
