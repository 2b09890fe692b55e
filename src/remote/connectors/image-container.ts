// A container that is created from an image on first use, and removed with the daemon that created it. If that daemon
// was killed, the next daemon that creates a container removes it.
import { hostname } from "node:os";
import { NoDaemonError } from "../../client/carriers/carrier.ts";
import { startTimeOf } from "../../platform/start-time.ts";
import { randomHex } from "../../util/random.ts";
import { type ProgramResult, runProgram } from "../run-program.ts";
import { NotStartedError } from "./shell-connector.ts";

export interface ImageContainerSetup {
  /** `docker`, `podman`, `docker --context build`. */
  docker: readonly string[];
  image: string;
  /** For `docker run`. */
  options: readonly string[];
  env: Record<string, string | undefined>;
}

/** The image may have to be pulled first. */
const createTimeoutMs = 10 * 60_000;
const commandTimeoutMs = 15_000;

const ownerLabel = "trl.owner";
const ownHost = hostname();
const ownerOf = (pid: number) => `${ownHost}:${pid}:${startTimeOf(pid)}`;

/** Process 1 of the container: it waits for SIGTERM and reaps orphaned processes. */
const initScript = 'trap "exit 0" TERM INT; while :; do sleep 3600 & wait $!; done';

export class ImageContainer {
  readonly #setup: ImageContainerSetup;
  #created: Promise<string> | undefined;
  /** Aborts the creation, so that removing does not wait for an image that is being pulled. */
  readonly #removing = new AbortController();

  constructor(setup: ImageContainerSetup) {
    this.#setup = setup;
  }

  /** The container's id. Creates the container if there is none. */
  get(): Promise<string> {
    if (this.#removing.signal.aborted) return Promise.reject(new NoDaemonError("the container was removed"));
    const created = this.#created ?? this.#create();
    this.#created = created;
    created.catch(() => this.forget(created));
    return created;
  }

  /** The container's id. Rejects with a NotStartedError if there is none. */
  find(): Promise<string> {
    return (
      this.#created ??
      Promise.reject(new NotStartedError(`no container was created from ${this.#setup.image} yet`))
    );
  }

  /** The container is gone; the next `get` creates a new one. */
  forget(created = this.#created): void {
    if (this.#created === created) this.#created = undefined;
  }

  /** Removes the container, and prevents creating another. */
  async remove(): Promise<void> {
    this.#removing.abort();
    const id = await this.#created?.catch(() => undefined);
    this.forget();
    if (id !== undefined) await this.#docker(["rm", "-f", id]);
  }

  async #create(): Promise<string> {
    await this.#removeAbandoned();
    const { image, options } = this.#setup;
    const name = `trl-${randomHex(6)}`;
    const flags = ["--name", name, "--label", `${ownerLabel}=${ownerOf(process.pid)}`, ...options];
    const args = ["run", "-d", "--rm", ...flags, "--entrypoint", "sh", image, "-c", initScript];
    const { exitCode, stdout, stderr } = await this.#docker(args, createTimeoutMs, this.#removing.signal);
    const id = stdout.trim().split("\n").at(-1);
    if (exitCode === 0 && id) return id;
    if (exitCode === null) await this.#docker(["rm", "-f", name]); // killed, perhaps half way
    throw new Error(`no container could be made of ${image}: ${lastLine(stderr)}`);
  }

  /** Removes containers of dead daemons of this machine. If listing fails, `docker run` fails with the reason. */
  async #removeAbandoned(): Promise<void> {
    const filter = ["--filter", `label=${ownerLabel}`];
    const format = ["--format", `{{.ID}} {{.Label "${ownerLabel}"}}`];
    const { stdout } = await this.#docker(["ps", "-a", ...filter, ...format]);
    const abandoned = stdout.split("\n").flatMap((line) => {
      const [id, owner = ""] = line.split(" ");
      const [, host, pid] = /^(.*):(\d+):[^:]*$/.exec(owner) ?? [];
      const isDead = host === ownHost && ownerOf(Number(pid)) !== owner;
      return id && isDead ? [id] : [];
    });
    if (abandoned.length > 0) await this.#docker(["rm", "-f", ...abandoned]);
  }

  #docker(args: string[], timeoutMs = commandTimeoutMs, signal?: AbortSignal): Promise<ProgramResult> {
    const { docker, env } = this.#setup;
    return runProgram([...docker, ...args], { env, timeoutMs, ...(signal ? { signal } : {}) });
  }
}

const lastLine = (text: string): string => {
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !/^(?:See|Run) 'docker/.test(line));
  return lines.at(-1)?.trim() ?? "no error message";
};
