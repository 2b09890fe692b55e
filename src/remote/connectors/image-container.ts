// A container that is made from an image when it is first needed, and removed with whoever made it. Where that one was
// killed, the next one who makes a container removes it.

import { hostname } from "node:os";
import { NoDaemonError } from "../../client/carriers/carrier.ts";
import { startTimeOf } from "../../platform/start-time.ts";
import { randomHex } from "../../util/random.ts";
import { type Answer, runProgram } from "../run-program.ts";
import { UnreachableError } from "../unreachable.ts";

export interface ImageContainerSetup {
  /** `docker`, `podman`, `docker --context far`. */
  docker: readonly string[];
  image: string;
  /** For `docker run`. */
  options: readonly string[];
  env: Record<string, string | undefined>;
}

/** The image may have to be pulled first. */
const makeMaxMs = 10 * 60_000;
const askMaxMs = 15_000;

const ownerLabel = "trl.owner";
const ownHost = hostname();
const ownerOf = (pid: number) => `${ownHost}:${pid}:${startTimeOf(pid)}`;

/** Does nothing, as the first process: it ends when asked to, and takes care of what lost its parent. */
const keeper = 'trap "exit 0" TERM INT; while :; do sleep 3600 & wait $!; done';

export class ImageContainer {
  readonly #setup: ImageContainerSetup;
  #made: Promise<string> | undefined;
  /** Ends the making: an image that is being pulled is not waited for by who wants to go. */
  readonly #leaving = new AbortController();

  constructor(setup: ImageContainerSetup) {
    this.#setup = setup;
  }

  /** Its id; it is made where there is none. */
  get(): Promise<string> {
    if (this.#leaving.signal.aborted) return Promise.reject(new NoDaemonError("the container was removed"));
    const made = this.#made ?? this.#make();
    this.#made = made;
    made.catch(() => this.forget(made));
    return made;
  }

  /** Rejects with a VacantError where there is none. */
  find(): Promise<string> {
    return (
      this.#made ?? Promise.reject(new UnreachableError(`no container was made of ${this.#setup.image} yet`))
    );
  }

  /** It is gone; the next one who needs it gets a new one. */
  forget(made = this.#made): void {
    if (this.#made === made) this.#made = undefined;
  }

  /** There is none afterwards, and none is made any more. */
  async remove(): Promise<void> {
    this.#leaving.abort();
    const id = await this.#made?.catch(() => undefined);
    this.forget();
    if (id !== undefined) await this.#ask(["rm", "-f", id]);
  }

  async #make(): Promise<string> {
    await this.#removeAbandoned();
    const { image, options } = this.#setup;
    const name = `trl-${randomHex(6)}`;
    const ours = ["--name", name, "--label", `${ownerLabel}=${ownerOf(process.pid)}`];
    const words = ["run", "-d", "--rm", ...ours, ...options, "--entrypoint", "sh", image, "-c", keeper];
    const { exitCode, stdout, stderr } = await this.#ask(words, makeMaxMs, this.#leaving.signal);
    const id = stdout.trim().split("\n").at(-1);
    if (exitCode === 0 && id) return id;
    if (exitCode === null) await this.#ask(["rm", "-f", name]); // it was stopped, perhaps half way
    throw new Error(`no container could be made of ${image}: ${lastLine(stderr)}`);
  }

  /** Those of this machine whose owner is dead. Where they cannot be listed, what comes next tells why. */
  async #removeAbandoned(): Promise<void> {
    const format = `{{.ID}} {{.Label "${ownerLabel}"}}`;
    const { stdout } = await this.#ask(["ps", "-a", "--filter", `label=${ownerLabel}`, "--format", format]);
    const abandoned = stdout.split("\n").flatMap((line) => {
      const [id, owner = ""] = line.split(" ");
      const [, host, pid] = /^(.*):(\d+):[^:]*$/.exec(owner) ?? [];
      const isDead = host === ownHost && ownerOf(Number(pid)) !== owner;
      return id && isDead ? [id] : [];
    });
    if (abandoned.length > 0) await this.#ask(["rm", "-f", ...abandoned]);
  }

  #ask(words: string[], maxMs = askMaxMs, signal?: AbortSignal): Promise<Answer> {
    const { docker, env } = this.#setup;
    return runProgram([...docker, ...words], { env, maxMs, ...(signal ? { signal } : {}) });
  }
}

const lastLine = (text: string): string => {
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !/^(?:See|Run) 'docker/.test(line));
  return lines.at(-1)?.trim() ?? "it does not say why";
};
