// A shell and a terminal with nobody in them. What the shell would say is put into its pipes before it is asked. What is
// typed at the terminal is echoed by the kernel, as it is where a program is slow to look.
import { closeFd, duplicate, ioctl, writeWhole } from "../../core/process/libc.ts";
import type { Child, Start } from "../../core/process/spawn.ts";
import { openMasters, openSlave } from "../../core/pty/flow-linux.ts";
import type { StartOnTerminal } from "../../core/pty/native-driver.ts";

/** Linux gives no process a number as high as this one. */
const nobodysPid = 0x400001;

const TCFLSH = 0x540b;
const TCIFLUSH = 0;

const nobodyUntil = (exited: Promise<number>): Child & { exitCode: number } => ({
  pid: nobodysPid,
  exited,
  exitCode: 0,
  signalCode: null,
  resourceUsage: () => undefined,
});

const printed = Buffer.from("hello\n");
/** The status, where it stands, and where it stood before. */
const end = Buffer.from("0\0/\0\0");

export class PlayedShell {
  /** What its process would have: 1, 2, three that lead into it, and one by which it tells how a command has ended. */
  #fds: number[] = [];

  constructor(readonly curtain: Promise<number>) {}

  readonly start: Start = (_request, stdio) => {
    this.close(); // one that waited too long was let go
    this.#fds = stdio.flatMap((fd) => (typeof fd === "number" ? (duplicate(fd) ?? []) : []));
    return nobodyUntil(this.curtain);
  };

  /** A command has come, and is about to be given to the shell: in this turn, or it would be taken for another's. */
  sayBeforehand(): void {
    const [stdout] = this.#fds;
    const told = this.#fds.at(-1);
    if (stdout === undefined || told === undefined) return;
    writeWhole(stdout, printed);
    writeWhole(told, end);
  }

  close(): void {
    for (const fd of this.#fds.splice(0)) closeFd(fd);
  }
}

export class PlayedTerminal {
  /** Its program's side: Bun's is closed once the terminal stands. */
  #fd: number | undefined;

  constructor(readonly curtain: Promise<number>) {}

  readonly start: StartOnTerminal = ({ cols, rows }, events) => {
    const before = new Set(openMasters().map(({ number }) => number));
    const terminal = new Bun.Terminal({ cols, rows, ...events });
    // By no other sign: the terminals of clients are there as well.
    const own = openMasters().find(({ number }) => !before.has(number));
    this.#fd = own && openSlave(own.fd);
    const masterFd = own && duplicate(own.fd);
    if (masterFd === undefined) {
      terminal.close();
      throw new Error("the terminal is not to be found");
    }
    return { child: nobodyUntil(this.curtain), terminal, masterFd };
  };

  /** The kernel keeps what nobody reads, some thousand keys of it, and echoes no more. */
  forgetKeys(): void {
    if (this.#fd !== undefined) ioctl(this.#fd, TCFLSH, TCIFLUSH);
  }

  close(): void {
    if (this.#fd !== undefined) closeFd(this.#fd);
    this.#fd = undefined;
  }
}
