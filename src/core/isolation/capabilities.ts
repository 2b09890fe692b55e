// Detects on first use which isolation features this machine supports. An unavailable feature has a reason and a
// remedy, for errors and for the description of the daemon. Only positive results are cached, since an administrator
// may apply the remedy while the daemon runs.
import { existsSync } from "node:fs";
import type { Limits } from "../../protocol/isolation.ts";
import type { CgroupsState } from "../../upgrade/schema/document.ts";
import { smallestSandbox } from "./bubblewrap-linux.ts";
import { type Cgroups, type Controller, isShortcoming, type Shortcoming } from "./cgroup.ts";
import { detectCgroups, restoreCgroups } from "./detect-cgroups-linux.ts";
import { sandboxExec } from "./sandbox-exec-darwin.ts";

/** The mechanism that provides a feature, or why it is unavailable. */
export type Ability = { available: true; by: string } | ({ available: false } & Shortcoming);

const isLinux = process.platform === "linux";
const no = (reason: string, remedy: string): Ability => ({ available: false, reason, remedy });
const yes = (by: string): Ability => ({ available: true, by });

export interface CapabilitiesDescription {
  cgroup:
    | { available: true; version: string; controllers: Controller[] }
    | ({ available: false } & Shortcoming);
  limits: Record<keyof Limits, Ability>;
  root: Ability;
  sandbox: Ability;
}

/** How long a description is cached. */
const describedMs = 5000;

/** Runs a program for a trial. Resolves with its error message, or undefined if it succeeded. */
export type Trial = (argv: string[]) => Promise<string | undefined>;

/** Searched after the daemon's PATH. */
const systemDirs = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"];

export class Capabilities {
  #cgroups: Cgroups | undefined;
  #sandbox: Promise<Ability> | undefined;
  #described: { at: number; as: Promise<CapabilitiesDescription> } | undefined;

  /** `name` is the name of the daemon's control groups; `path` is the PATH to search programs in. */
  constructor(
    readonly name: string,
    readonly path: string | undefined,
    readonly trial: Trial,
    known?: CgroupsState,
  ) {
    this.#cgroups = known && restoreCgroups(known);
  }

  get cgroups(): Cgroups | Shortcoming {
    if (this.#cgroups) return this.#cgroups;
    const found = isLinux
      ? detectCgroups(this.name)
      : { reason: `${process.platform} has no control groups`, remedy: "run the daemon on Linux" };
    if (!isShortcoming(found)) this.#cgroups = found;
    return found;
  }

  /** Undefined until the groups are detected or restored. */
  get usedCgroups(): Cgroups | undefined {
    return this.#cgroups;
  }

  controller(controller: Controller): Ability {
    const { cgroups } = this;
    if (isShortcoming(cgroups)) return { available: false, ...cgroups };
    if (cgroups.controllers.has(controller)) return yes(`cgroup ${cgroups.version}`);
    return no(
      `the ${controller} controller is not available to the daemon's control group`,
      `delegate it to the daemon (systemd: Delegate=yes; a container: --cgroupns private)`,
    );
  }

  get root(): Ability {
    if (!isLinux) return no("another root is supported on Linux only", "run the daemon on Linux");
    if (process.getuid?.() !== 0)
      return no(
        "only root may change the root directory",
        'run the daemon as root, or ask for "sandbox" as well',
      );
    if (!this.#find("unshare")) return no("unshare(1) is not installed", "install util-linux");
    return yes("chroot");
  }

  get bwrap(): string | undefined {
    return this.#find("bwrap");
  }

  get unshare(): string | undefined {
    return this.#find("unshare");
  }

  /** A trial takes about 10 ms. Concurrent requests share it. */
  get sandbox(): Promise<Ability> {
    if (!isLinux) return Promise.resolve(darwinSandbox());
    if (!this.#sandbox) {
      const forget = () => {
        this.#sandbox = undefined;
      };
      this.#sandbox = this.#trySandbox();
      this.#sandbox.then((ability) => ability.available || forget(), forget);
    }
    return this.#sandbox;
  }

  async #trySandbox(): Promise<Ability> {
    const { bwrap } = this;
    if (!bwrap) return no("bubblewrap (bwrap) is not installed", "install it: apt install bubblewrap");
    const envFailure = await this.trial(["/usr/bin/env", "--default-signal=INT", "true"]);
    if (envFailure !== undefined)
      return no(`/usr/bin/env cannot reset signals: ${envFailure}`, "install GNU coreutils 8.31 or newer");
    const bwrapFailure = await this.trial([bwrap, ...smallestSandbox, "true"]);
    if (bwrapFailure === undefined) return yes("bubblewrap");
    return no(
      `bubblewrap cannot make a sandbox here: ${bwrapFailure}`,
      "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, or kernel.apparmor_restrict_unprivileged_userns=0)",
    );
  }

  #find(program: string): string | undefined {
    const dirs = [...(this.path ?? "").split(":"), ...systemDirs].filter((dir) => dir.startsWith("/"));
    return Bun.which(program, { PATH: dirs.join(":") }) ?? undefined;
  }

  /** Cached for `describedMs`, since clients may poll it. */
  describe(): Promise<CapabilitiesDescription> {
    const now = performance.now();
    if (!this.#described || now - this.#described.at > describedMs) {
      const as = this.#describe();
      this.#described = { at: now, as };
      as.catch(() => {
        this.#described = undefined;
      });
    }
    return this.#described.as;
  }

  async #describe(): Promise<CapabilitiesDescription> {
    const { cgroups } = this;
    const rlimit = yes("rlimit");
    const cgroup = isShortcoming(cgroups)
      ? { available: false as const, ...cgroups }
      : { available: true as const, version: cgroups.version, controllers: [...cgroups.controllers] };
    return {
      cgroup,
      limits: {
        memory_bytes: this.controller("memory"),
        cpu_percent: this.controller("cpu"),
        pids: this.controller("pids"),
        cpu_time_s: isShortcoming(cgroups) ? rlimit : yes(`cgroup ${cgroups.version} and rlimit`),
        open_files: rlimit,
        file_size_bytes: rlimit,
        wall_clock_s: yes("the daemon's clock"),
      },
      root: this.root,
      sandbox: await this.sandbox,
    };
  }
}

function darwinSandbox(): Ability {
  if (existsSync(sandboxExec)) return yes("sandbox-exec");
  return no("sandbox-exec(1) is not installed", "run the daemon on Linux with bubblewrap");
}
