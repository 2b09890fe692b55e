// A shell that has been started and waits: first for the session's state, then for its command.
import { closeSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { shellStateMaxBytes } from "../limits.ts";
import type { Custody } from "../process/custody.ts";
import { writeAndClose } from "../process/pipe-writer.ts";
import { sendSignal } from "../process/process-table.ts";
import { type SpawnedProcess, spawnProcess } from "../process/spawn.ts";
import { type ByteString, byteStringOf, bytesOf, fromText, quote } from "./shell/byte-string.ts";
import {
  type CommandFeed,
  type ReportedState,
  type ShellDialect,
  type ShellState,
  shellFiles,
} from "./shell/dialect.ts";

export interface ShellSpec {
  sessionId: string;
  shell: string;
  dialect: ShellDialect;
  /** The session's own environment: every shell is started with it. */
  launchEnv: Record<string, string>;
}

export class PreparedShell {
  readonly process: SpawnedProcess;
  /** It may be killed while it waits. */
  hasEnded = false;
  #stateFd: number | undefined;
  #commandFd: number | undefined;
  #stdinFd: number | undefined;

  constructor(
    readonly spec: ShellSpec,
    readonly dir: string,
    readonly custody: Custody,
  ) {
    mkdirSync(dir, { mode: 0o700 });
    try {
      this.process = this.#spawn();
    } catch (error) {
      this.removeFiles();
      throw error;
    }
    [this.#stateFd, this.#commandFd, this.#stdinFd] = this.process.extraFds;
    custody.addRoot(this.process.pid, { sessionId: spec.sessionId });
    void this.process.exited.then(() => {
      this.hasEnded = true;
    });
  }

  feedState(state: ShellState): void {
    if (this.#stateFd === undefined) return;
    this.#writeFile(shellFiles.restore, state.script);
    this.#say(this.#stateFd, shellFiles.restore);
    this.#stateFd = undefined;
  }

  /** Lets the command run; returns the descriptor of its input where it has one, for the caller to close. */
  feedCommand(feed: CommandFeed): number | undefined {
    const { dialect, sessionId } = this.spec;
    this.custody.addRoot(this.process.pid, { sessionId, commandId: feed.commandId });
    if (feed.isGone) mkdirSync(`${this.dir}/${shellFiles.gone}`);
    const { prologue, file } = dialect.commandScript(feed, this.dir);
    if (file !== undefined) this.#writeFile(dialect.commandFile, file);
    this.#writeFile(shellFiles.prologue, prologue);
    this.#say(this.#commandFd!, shellFiles.prologue);
    this.#commandFd = undefined;
    const stdinFd = this.#stdinFd!;
    this.#stdinFd = undefined;
    if (feed.hasStdin) return stdinFd;
    closeSync(stdinFd);
    return undefined;
  }

  /** After the shell has ended. Undefined where it could not report. */
  readReport(feed: CommandFeed): ReportedState | undefined {
    const path = `${this.dir}/${shellFiles.report}`;
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (size === 0 || size > shellStateMaxBytes) return undefined;
    const { dialect, launchEnv } = this.spec;
    return dialect.readReport(byteStringOf(readFileSync(path)), { feed, dir: this.dir, launchEnv });
  }

  /** Gives back the directory. */
  removeFiles(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }

  /** For a shell that never got a command: its inputs end, and so does it. */
  async discard(): Promise<void> {
    for (const fd of [this.#stateFd, this.#commandFd, this.#stdinFd]) if (fd !== undefined) closeSync(fd);
    this.#stateFd = this.#commandFd = this.#stdinFd = undefined;
    sendSignal(this.process.pid, "SIGKILL");
    await this.process.exited;
    this.custody.removeRoot(this.process.pid);
    closeSync(this.process.stdoutFd);
    closeSync(this.process.stderrFd);
    this.removeFiles();
  }

  #spawn(): SpawnedProcess {
    const { dialect, shell, launchEnv } = this.spec;
    this.#writeFile(dialect.bootFile, dialect.bootScript(this.dir));
    const { argv, env } = dialect.launch(shell, this.dir);
    return spawnProcess({
      argv,
      env: { ...launchEnv, ...env },
      workingDir: "/",
      extraInputs: 3,
      openStdin: false,
    });
  }

  /** What waits on the pipe reads the file. */
  #say(fd: number, file: string): void {
    writeAndClose(fd, bytesOf(`. ${quote(fromText(`${this.dir}/${file}`))}\n`));
  }

  #writeFile(name: string, text: ByteString): void {
    writeFileSync(`${this.dir}/${name}`, bytesOf(text), { mode: 0o600 });
  }
}
