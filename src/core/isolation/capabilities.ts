// What this machine can do, found out when it is first asked for. Each answer that is no has a reason and a remedy,
// for errors and for whoever wants to know beforehand. A no is looked at again: it may be remedied meanwhile.
import { existsSync } from "node:fs";
import type { Limits } from "../../protocol/isolation.ts";
import type { CgroupsState } from "../../upgrade/schema/document.ts";
import { smallestSandbox } from "./bubblewrap-linux.ts";
import { type Cgroups, type Controller, isShortcoming, type Shortcoming } from "./cgroup.ts";
import { detectCgroups, knownCgroups } from "./detect-cgroups-linux.ts";
import { sandboxExec } from "./sandbox-exec-darwin.ts";

/** By what it is done, or why it cannot be. */
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

const describedMs = 5000;

/** Runs a program for a trial: what it said where it failed. */
export type Attempt = (argv: string[]) => Promise<string | undefined>;

/** Where system programs are, whatever the daemon's PATH. */
const usualPlaces = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"];

export class Capabilities {
  #cgroups: Cgroups | undefined;
  #sandbox: Promise<Ability> | undefined;
  #described: { at: number; as: Promise<CapabilitiesDescription> } | undefined;

  /** `name` names the daemon's groups; `path` is where programs are looked for. */
  constructor(
    readonly name: string,
    readonly path: string | undefined,
    readonly attempt: Attempt,
    known?: CgroupsState,
  ) {
    this.#cgroups = known && knownCgroups(known);
  }

  get cgroups(): Cgroups | Shortcoming {
    if (this.#cgroups) return this.#cgroups;
    const found = isLinux
      ? detectCgroups(this.name)
      : { reason: `${process.platform} has no control groups`, remedy: "run the daemon on Linux" };
    if (!isShortcoming(found)) this.#cgroups = found;
    return found;
  }

  /** The groups, where they have been used. */
  get usedCgroups(): Cgroups | undefined {
    return this.#cgroups;
  }

  controller(controller: Controller): Ability {
    const { cgroups } = this;
    if (isShortcoming(cgroups)) return { available: false, ...cgroups };
    if (cgroups.controllers.has(controller)) return yes(`cgroup ${cgroups.version}`);
    return no(
      `the ${controller} controller is not there for the daemon's control group, or closed to it`,
      `have it handed on to the daemon (systemd: Delegate=yes; a container: --cgroupns private)`,
    );
  }

  get root(): Ability {
    if (!isLinux) return no(`another root is for Linux only`, "run the daemon on Linux");
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

  /** A trial takes some 10 ms; requests that come meanwhile share it. */
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
    const env = await this.attempt(["/usr/bin/env", "--default-signal=INT", "true"]);
    if (env !== undefined)
      return no(`/usr/bin/env cannot reset signals: ${env}`, "install GNU coreutils 8.31 or newer");
    const refused = await this.attempt([bwrap, ...smallestSandbox, "true"]);
    if (refused === undefined) return yes("bubblewrap");
    return no(
      `bubblewrap cannot make a sandbox here: ${refused}`,
      "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, or kernel.apparmor_restrict_unprivileged_userns=0)",
    );
  }

  #find(program: string): string | undefined {
    const places = [...(this.path ?? "").split(":"), ...usualPlaces].filter((place) => place.startsWith("/"));
    return Bun.which(program, { PATH: places.join(":") }) ?? undefined;
  }

  /** For whoever wants to know beforehand. Kept for a moment: somebody may ask again and again. */
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
  return no("sandbox-exec(1) is not there", "run the daemon on Linux with bubblewrap");
}
