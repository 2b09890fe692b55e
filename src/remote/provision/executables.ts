// Finds the build of trl for a target platform: this executable itself, or a `trl-<target>` file in its directory.
import { closeSync, createReadStream, openSync, readSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { TrlError } from "../../protocol/errors.ts";
import { version } from "../../util/version.ts";
import type { RemoteExecutable } from "./scripts.ts";

export interface Executable extends RemoteExecutable {
  path: string;
}

export interface ExecutablesSetup {
  /** This executable; undefined if trl runs from source. */
  own: string | undefined;
  /** Directories to search for `trl-<target>` before the directory of `own`. */
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
  /** Cache by file version, since reading the whole file takes a while. */
  readonly #checksums = new Map<string, Promise<string>>();
  /** Cache by target, with the file version. */
  readonly #found = new Map<string, { executable: Executable; file: string }>();

  constructor({ own, dirs = [] }: ExecutablesSetup) {
    this.#own = own;
    this.#dirs = [...dirs, ...(own === undefined ? [] : [dirname(own)])];
  }

  /** Executables that `find` has found, without those that have changed on disk since. */
  get known(): Executable[] {
    const fresh = [...this.#found.values()].filter(
      ({ executable, file }) => fileVersion(executable.path) === file,
    );
    return fresh.map(({ executable }) => executable);
  }

  /** Finds this executable ahead, since most runtimes have the same platform: then the first script knows it. */
  async warm(): Promise<void> {
    const target = this.#own === undefined ? undefined : targetOf(this.#own);
    const isKnown = this.known.some((executable) => executable.target === target);
    if (target !== undefined && !isKnown) await this.find(target);
  }

  /** Rejects with RUNTIME_UNAVAILABLE if there is none; the message names the missing file. */
  async find(target: string): Promise<Executable> {
    const path = this.#pathFor(target);
    const file = fileVersion(path);
    const checksum = this.#checksums.get(file) ?? checksumOf(path);
    this.#checksums.set(file, checksum);
    checksum.catch(() => this.#checksums.delete(file));
    const sha256 = await checksum;
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

/** Identifies one version of a file. */
function fileVersion(path: string): string {
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

/** The target of an executable by its header; undefined if the file is no executable, or missing. */
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
  // The name of the dynamic loader shows the C library.
  const libc = head.includes("ld-musl-") ? "-musl" : "";
  return nameOf("linux", elfMachines[head.readUInt16LE(18)], libc);
}

const nameOf = (os: string, machine: string | undefined, libc = "") =>
  machine === undefined ? undefined : `${os}-${machine}${libc}`;
