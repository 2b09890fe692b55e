// A shell process of a session. It reads the session's state from descriptor 3, then one command from descriptor 4, runs
// it with descriptor 5 as its input, and ends with it.
import { fstatSync, mkdirSync, writeFileSync } from "node:fs";
import { hasChildEnded } from "../../../platform/children.ts";
import { closeFd, rewriteFile } from "../../../platform/libc.ts";
import { sendSignal } from "../../../platform/process-table.ts";
import { TrlError } from "../../../protocol/errors.ts";
import { failureOf } from "../../../util/failure.ts";
import { withPrivateUmask } from "../../../util/private-files.ts";
import { pipeSyncWriteMaxBytes } from "../../limits.ts";
import { type ByteString, bytesOf, fromText, quote } from "../../process/byte-string.ts";
import type { ProcessOwnership } from "../../process/ownership.ts";
import { writeAndClose } from "../../process/pipe-writer.ts";
import { type SpawnedProcess, spawnProcess } from "../../process/spawn.ts";
import {
  type CommandFeed,
  inPlaceWords,
  type ReportPlan,
  type ShellBoot,
  type ShellState,
  shellFiles,
} from "../shell/dialect.ts";
import { ShellFiles } from "./shell-files.ts";
import type { ShellSpec } from "./shell-spec.ts";

export class SessionShell {
  readonly process: SpawnedProcess;
  readonly files: ShellFiles;
  #hasEnded = false;
  /** The shell has its last command and ends with it. */
  hasBegun = false;
  /** Identity of the directory in which the shell waits. */
  #directory: string | undefined;
  /** Paths that its sandbox hides. */
  #hiddenPaths = "";
  #prologue: ByteString = "";
  #stateFd: number | undefined;
  #commandFd: number | undefined;
  #stdinFd: number | undefined;

  constructor(
    readonly spec: ShellSpec,
    readonly dir: string,
    readonly ownership: ProcessOwnership,
    readonly boot: ShellBoot = {},
  ) {
    this.files = new ShellFiles(dir, spec.dialect, spec.launchEnv);
    try {
      withPrivateUmask(() => mkdirSync(dir, { recursive: true })); // a cleaner of /tmp may have removed the parent
      this.process = this.#spawn();
    } catch (error) {
      this.files.remove();
      throw asSpawnError(error, spec.shell);
    }
    [this.#stateFd, this.#commandFd, this.#stdinFd] = this.process.extraFds;
    this.assignToSession();
    void this.process.exited.then(() => {
      this.#hasEnded = true;
    });
  }

  /** Asks the kernel as well: a command may come between the death of the shell and the event. */
  get hasEnded(): boolean {
    return this.#hasEnded || hasChildEnded(this.process.pid);
  }

  get awaitsState(): boolean {
    return this.#stateFd !== undefined;
  }

  /** The descriptor for the command; undefined once the last command was begun, or the shell was discarded. */
  get commandFd(): number | undefined {
    return this.#commandFd;
  }

  feedState(state: ShellState): void {
    if (this.#stateFd === undefined) return;
    this.#send(this.#stateFd, shellFiles.restore, this.spec.dialect.stateScript(state));
    this.waitsIn(state.workingDir);
    this.#stateFd = undefined;
  }

  /** The shell waits in that directory from now on. */
  waitsIn(directory: ByteString): void {
    this.#directory = this.spec.paths.identityOf(bytesOf(directory));
  }

  /** False for a directory of the same name that was made after the shell's own was removed. */
  isIn(directory: ByteString): boolean {
    return (
      this.#directory !== undefined && this.#directory === this.spec.paths.identityOf(bytesOf(directory))
    );
  }

  /** Everything but `begin`. Returns the descriptor of the command's input, for the caller to close, if it has one. */
  prepareCommand(feed: CommandFeed, plan: ReportPlan): number | undefined {
    this.assignToCommand(feed.commandId);
    const { prologue, file } = this.spec.dialect.commandScript(feed, this.dir, plan);
    if (file !== undefined) this.writeCommand(file);
    this.#prologue = prologue;
    this.files.mayReport = plan.report !== "none";
    const stdinFd = this.#stdinFd!;
    this.#stdinFd = undefined;
    if (feed.hasStdin) return stdinFd;
    closeFd(stdinFd);
    return undefined;
  }

  /**
   * Wakes the shell. Callers do this last: the kernel tends to put a woken process on the processor of its waker, where
   * it waits until the waker sleeps.
   */
  begin(): void {
    const fd = this.#commandFd;
    if (fd === undefined) return; // the command was stopped before
    this.#commandFd = undefined;
    this.hasBegun = true;
    this.#send(fd, shellFiles.prologue, this.#prologue, this.boot.runsInPlace ? inPlaceWords.none : "");
  }

  /** For a shell that never got a command for itself. */
  async discard(): Promise<void> {
    for (const fd of [this.#stateFd, this.#commandFd, this.#stdinFd]) if (fd !== undefined) closeFd(fd);
    this.#stateFd = this.#commandFd = this.#stdinFd = undefined;
    if (!this.#hasEnded) sendSignal(this.process.pid, "SIGKILL");
    await this.process.exited;
    await this.ownership.removeRoot(this.process.pid);
    await this.process.output.close();
    this.files.remove();
  }

  /** Its sandbox shows what a new one would hide, such as the socket of a daemon that was started later. */
  get isOutdated(): boolean {
    const { sessionIsolation } = this.spec;
    return sessionIsolation !== undefined && String(sessionIsolation.hiddenNow) !== this.#hiddenPaths;
  }

  /** Its processes belong to the session and to no command. */
  assignToSession(): void {
    this.ownership.addRoot(this.process.pid, { sessionId: this.spec.sessionId });
  }

  assignToCommand(commandId: string): void {
    const { pid } = this.process;
    this.ownership.addRoot(pid, { sessionId: this.spec.sessionId, commandId });
    sendSignal(pid, "SIGCONT"); // a SIGSTOP of an earlier command may have stopped it
  }

  /** A cleaner of /tmp may have unlinked the open file; the shell would then find none. */
  writeCommand(text: ByteString): void {
    const fd = this.files.commandFd;
    const isWritten = fd !== undefined && fstatSync(fd).nlink > 0 && rewriteFile(fd, bytesOf(text));
    if (!isWritten) this.#writeFile(this.spec.dialect.commandFile, text);
  }

  #spawn(): SpawnedProcess {
    const { dialect, shell, launchEnv, sessionIsolation } = this.spec;
    this.#hiddenPaths = String(sessionIsolation?.hiddenNow);
    this.#writeFile(dialect.bootFile, dialect.bootScript(this.dir, this.boot));
    const { argv, env } = dialect.launch(shell, this.dir);
    const request = {
      argv: sessionIsolation?.wrap(argv, { workingDir: "/", ownDir: this.dir }).argv ?? argv,
      env: { ...launchEnv.all(), ...env },
      workingDir: "/",
      extraInputs: 3,
      extraOutputs: this.boot.runsInPlace ? 1 : 0,
      openStdin: false,
    };
    return this.ownership.start(this.spec.sessionId, () => spawnProcess(request));
  }

  /** A long script goes by way of a file: a pipe takes one page without waiting for its reader. */
  #send(fd: number, file: string, script: ByteString, before: ByteString = ""): void {
    const isLong = before.length + script.length > pipeSyncWriteMaxBytes;
    if (isLong) this.#writeFile(file, script);
    const sent = isLong ? `${this.spec.dialect.source} ${quote(fromText(`${this.dir}/${file}`))}\n` : script;
    writeAndClose(fd, bytesOf(before + sent));
  }

  #writeFile(name: string, text: ByteString): void {
    withPrivateUmask(() => writeFileSync(`${this.dir}/${name}`, bytesOf(text)));
  }
}

function asSpawnError(error: unknown, shell: string): TrlError {
  if (error instanceof TrlError) return error;
  return new TrlError("SPAWN_FAILED", `${shell} could not be started: ${failureOf(error)}`);
}
