// The private directory of one shell: its scripts, and what it reports at its end.
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, rmSync } from "node:fs";
import { closeFd } from "../../../platform/libc.ts";
import { shellStateMaxBytes } from "../../limits.ts";
import { type ByteString, byteStringOf } from "../../process/byte-string.ts";
import { type ReportedState, type ShellDialect, type Surroundings, shellFiles } from "../shell/dialect.ts";
import type { SharedEnv } from "./shared-env.ts";

export class ShellFiles {
  /** Open for writing before there is a command, which is then written quickly. */
  commandFd: number | undefined;
  /** Whether the shell reports at its end. Not where its command leaves it as it is. */
  mayReport = true;

  constructor(
    readonly dir: string,
    readonly dialect: ShellDialect,
    /** What the shell was started with. */
    readonly launchEnv: SharedEnv,
  ) {}

  /** Undefined where the shell could not report. */
  readReport(): ByteString | undefined {
    const path = `${this.dir}/${shellFiles.report}`;
    const size = lstatSync(path, { throwIfNoEntry: false })?.size ?? 0;
    return size === 0 || size > shellStateMaxBytes ? undefined : readPlainFile(path);
  }

  parseReport(report: ByteString, feed: Surroundings): ReportedState | undefined {
    const { dialect, dir, launchEnv } = this;
    return dialect.readReport(report, { feed, dir, launchEnv: launchEnv.all() });
  }

  /** Gives back the directory. */
  remove(): void {
    if (this.commandFd !== undefined) closeFd(this.commandFd);
    this.commandFd = undefined;
    try {
      rmSync(this.dir, { recursive: true, force: true });
    } catch {
      // Somebody holds on to it; it goes with the daemon's own directory.
    }
  }
}

/** The directory is the command's, too: what it has put there in place of a file is not followed or waited for. */
function readPlainFile(path: string): ByteString | undefined {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  let fd: number | undefined;
  try {
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    return fstatSync(fd).isFile() ? byteStringOf(readFileSync(fd)) : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
