// The private directory of one shell: its scripts and its state report.
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { closeFd } from "../../../platform/libc.ts";
import { shellStateMaxBytes } from "../../limits.ts";
import { type ByteString, byteStringOf } from "../../process/byte-string.ts";
import { type ReportedState, type ShellDialect, type Surroundings, shellFiles } from "../shell/dialect.ts";
import type { SharedEnv } from "./shared-env.ts";

export class ShellFiles {
  /** The command file, where it was opened ahead of the command. */
  commandFd: number | undefined;
  /** Whether the shell reports at its end. */
  mayReport = true;

  constructor(
    readonly dir: string,
    readonly dialect: ShellDialect,
    /** Environment that the shell was started with. */
    readonly launchEnv: SharedEnv,
  ) {}

  /** Whether the shell gave the sign that its command begins: it has emptied the boot program, or the command removed it. */
  get hasBegun(): boolean {
    try {
      return statSync(`${this.dir}/${this.dialect.bootFile}`).size === 0;
    } catch {
      return true; // only a command that has begun removes the directory, or takes the right to look into it
    }
  }

  /** Undefined where there is no report, or it is too long. */
  readReport(): ByteString | undefined {
    const path = `${this.dir}/${shellFiles.report}`;
    const size = sizeOf(path);
    return size === 0 || size > shellStateMaxBytes ? undefined : readPlainFile(path);
  }

  parseReport(report: ByteString, feed: Surroundings): ReportedState | undefined {
    const { dialect, dir, launchEnv } = this;
    return dialect.readReport(report, { feed, dir, launchEnv: launchEnv.all() });
  }

  /** Removes the directory. */
  remove(): void {
    if (this.commandFd !== undefined) closeFd(this.commandFd);
    this.commandFd = undefined;
    try {
      rmSync(this.dir, { recursive: true, force: true });
    } catch {
      // A process may still write to it; the daemon removes its whole directory when it ends.
    }
  }
}

/** The command can write to the directory: a link or a FIFO that it put there is not followed, and not waited for. */
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

function sizeOf(path: string): number {
  try {
    return lstatSync(path).size;
  } catch {
    return 0;
  }
}
