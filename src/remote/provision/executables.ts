// The builds of this program at hand, for the machines it is to run on: itself, and those that lie beside it.
import { closeSync, createReadStream, openSync, readSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { TrlError } from "../../protocol/errors.ts";
import { version } from "../../util/version.ts";
import type { RemoteExecutable } from "./scripts.ts";

export interface Executable extends RemoteExecutable {
  path: string;
}

export interface ExecutablesSetup {
  /** This program as one file; undefined where it runs from source. */
  own: string | undefined;
  /** Where else to look for `trl-<target>`, before the directory of `own`. */
  dirs?: readonly string[];
}

const targets = [
  "linux-x64",
  "linux-arm64",
  "linux-x64-musl",
  "linux-arm64-musl",
  "darwin-x64",
  "darwin-arm64",
];

const keyChars = 12;

export class Executables {
  readonly #own: string | undefined;
  readonly #dirs: readonly string[];
  /** By the file as it is: to read it all takes a while, so it is done when it is needed, and once. */
  readonly #checksums = new Map<string, Promise<string>>();
  /** By target, with the file as it was. */
  readonly #found = new Map<string, { executable: Executable; file: string }>();

  constructor({ own, dirs = [] }: ExecutablesSetup) {
    this.#own = own;
    this.#dirs = [...dirs, ...(own === undefined ? [] : [dirname(own)])];
  }

  /** Those that were asked for before, and are the same. */
  get known(): Executable[] {
    const fresh = [...this.#found.values()].filter(
      ({ executable, file }) => fileAt(executable.path) === file,
    );
    return fresh.map(({ executable }) => executable);
  }

  /** What is most often needed, so that the first connection may find it there. */
  async warm(): Promise<void> {
    const target = this.#own === undefined ? undefined : targetOf(this.#own);
    const isKnown = this.known.some((executable) => executable.target === target);
    if (target !== undefined && !isKnown) await this.find(target);
  }

  /** Rejects with RUNTIME_UNAVAILABLE where there is none; the message says which file is missing. */
  async find(target: string): Promise<Executable> {
    const path = this.#pathFor(target);
    const file = fileAt(path);
    const sum = this.#checksums.get(file) ?? checksumOf(path);
    this.#checksums.set(file, sum);
    sum.catch(() => this.#checksums.delete(file));
    const sha256 = await sum;
    const executable = { target, path, sha256, key: `${version}-${sha256.slice(0, keyChars)}` };
    this.#found.set(target, { executable, file });
    return executable;
  }

  #pathFor(target: string): string {
    if (!targets.includes(target))
      throw new TrlError("RUNTIME_UNAVAILABLE", `there is no build of trl for ${target}`);
    if (this.#own !== undefined && targetOf(this.#own) === target) return this.#own;
    const name = `trl-${target}`;
    const path = this.#dirs.map((dir) => join(dir, name)).find((file) => targetOf(file) === target);
    if (path !== undefined) return path;
    const where = this.#dirs.length > 0 ? this.#dirs.join(" and ") : "nowhere";
    throw new TrlError(
      "RUNTIME_UNAVAILABLE",
      `${name} is needed to run there (looked in ${where}); \`bun run build:all\` makes it`,
    );
  }
}

function fileAt(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return `${path} ${stat?.ino} ${stat?.size} ${stat?.mtimeMs}`;
}

async function checksumOf(path: string): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256");
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 }))
    hash.update(chunk as Uint8Array);
  return hash.digest("hex");
}

const headBytes = 4096;
const elf = 0x7f454c46;
const machO = 0xcffaedfe;
const elfMachines: Record<number, string> = { 62: "x64", 183: "arm64" };
const machOMachines: Record<number, string> = { 16777223: "x64", 16777228: "arm64" };

/** For which machine a file was built, as its first bytes say; undefined where it is no program or not there. */
export function targetOf(path: string): string | undefined {
  const head = Buffer.alloc(headBytes);
  try {
    const fd = openSync(path, "r");
    readSync(fd, head, 0, headBytes, 0);
    closeSync(fd);
  } catch {
    return undefined;
  }
  const magic = head.readUInt32BE(0);
  if (magic === machO) return nameOf("darwin", machOMachines[head.readUInt32LE(4)]);
  if (magic !== elf) return undefined;
  // The loader that it asks for tells the C library.
  const libc = head.includes("ld-musl-") ? "-musl" : "";
  return nameOf("linux", elfMachines[head.readUInt16LE(18)], libc);
}

const nameOf = (os: string, machine: string | undefined, libc = "") =>
  machine === undefined ? undefined : `${os}-${machine}${libc}`;
