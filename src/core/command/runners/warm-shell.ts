// A shell that has been started and waits: first for the session's state, then for its command.

import { fstatSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { hasChildEnded } from "../../../platform/children.ts";
import { closeFd, rewriteFile, writeWhole } from "../../../platform/libc.ts";
import { sendSignal } from "../../../platform/process-table.ts";
import { TrlError } from "../../../protocol/errors.ts";
import { failureOf } from "../../../util/failure.ts";
import { withPrivateUmask } from "../../../util/private-files.ts";
import { commandDescriptors, pipeSyncWriteMaxBytes } from "../../limits.ts";
import { type ByteString, bytesOf, fromText, quote } from "../../process/byte-string.ts";
import type { ProcessOwnership } from "../../process/ownership.ts";
import { writeAndClose } from "../../process/pipe-writer.ts";
import { type SpawnedProcess, spawnProcess } from "../../process/spawn.ts";
import { descriptorsLeft } from "../../resources.ts";
import type { InPlaceKind } from "../shell/analysis/in-place-kind.ts";
import { type CommandFeed, inPlaceWords, type ShellState, shellFiles } from "../shell/dialect.ts";
import { type InPlaceRun, InPlaceRuns } from "./in-place-runs.ts";
import { ShellFiles } from "./shell-files.ts";
import type { ShellSpec } from "./shell-spec.ts";

/** What its processor time is told by. */
const canMeterInPlace = process.platform === "linux";

export class WarmShell {
  readonly process: SpawnedProcess;
  readonly files: ShellFiles;
  #hasEnded = false;
  /** It was told to run a command and end. */
  hasBegun = false;
  /** By its command. */
  execsProgram = false;
  #waitsIn: string | undefined;
  /** What its sandbox hides of others outside. */
  #hidden = "";
  #prologue: ByteString = "";
  #stateFd: number | undefined;
  #commandFd: number | undefined;
  #stdinFd: number | undefined;
  readonly #visits: InPlaceRuns | undefined;

  constructor(
    readonly spec: ShellSpec,
    readonly dir: string,
    readonly ownership: ProcessOwnership,
    /** For one command that needs no whole report. */
    readonly isLean = false,
  ) {
    this.files = new ShellFiles(dir, spec.dialect, spec.launchEnv);
    try {
      withPrivateUmask(() => mkdirSync(dir, { recursive: true })); // somebody may have cleaned up above it
      this.process = this.#spawn();
    } catch (error) {
      this.files.remove();
      throw asSpawnError(error, spec.shell);
    }
    [this.#stateFd, this.#commandFd, this.#stdinFd] = this.process.extraFds;
    const [inPlaceFd] = this.process.extraOutFds;
    if (inPlaceFd !== undefined) this.#visits = new InPlaceRuns(this.process, inPlaceFd);
    this.#isOnlyTheSessions();
    void this.process.exited.then(() => {
      this.#hasEnded = true;
    });
  }

  /** It waits for whatever the session runs next. */
  #isOnlyTheSessions(): void {
    this.ownership.addRoot(this.process.pid, { sessionId: this.spec.sessionId });
  }

  /** It may be killed while it waits, and a command may come before the event. */
  get hasEnded(): boolean {
    return this.#hasEnded || hasChildEnded(this.process.pid);
  }

  get awaitsState(): boolean {
    return this.#stateFd !== undefined;
  }

  feedState(state: ShellState): void {
    if (this.#stateFd === undefined) return; // it has been told
    this.#tell(this.#stateFd, shellFiles.restore, this.spec.dialect.stateScript(state));
    this.#waitsIn = this.spec.places.identityOf(bytesOf(state.workingDir));
    this.#stateFd = undefined;
  }

  /** Whether it waits in that directory, and not in one of the same name that has been removed since. */
  waitsIn(directory: ByteString): boolean {
    return this.#waitsIn !== undefined && this.#waitsIn === this.spec.places.identityOf(bytesOf(directory));
  }

  /** What takes time and needs no command: for the time in which nobody waits. */
  getReady(): void {
    const { commandFile } = this.spec.dialect;
    if (descriptorsLeft() < commandDescriptors) return; // time is what there is more of
    this.process.output.open();
    try {
      if (commandFile !== "")
        this.files.commandFd ??= withPrivateUmask(() => openSync(`${this.dir}/${commandFile}`, "wx"));
    } catch {
      // Its directory was cleaned away. The command will find out, and take another shell.
    }
  }

  /** Undefined where the command is to have the shell for itself. */
  inPlaceKind(feed: CommandFeed): InPlaceKind | undefined {
    return this.#visits && this.spec.dialect.inPlaceKind!(feed);
  }

  /** Everything but the word to begin. */
  prepareInPlace(feed: CommandFeed, { variables }: InPlaceKind): InPlaceRun {
    this.#tend(feed);
    this.#writeCommand(feed.command);
    const list = variables.length > 0 ? `builtin declare -p ${variables.join(" ")}\n` : undefined;
    return this.#visits!.prepare(list !== undefined, (justBefore) => {
      if (this.#commandFd === undefined) return; // stopped before it began
      justBefore();
      const words = list === undefined ? inPlaceWords.run : inPlaceWords.runAndList + list;
      writeWhole(this.#commandFd, bytesOf(words));
    });
  }

  /** The visit is over, and the shell waits there now. */
  ranInPlaceIn(directory: ByteString, hasMoved: boolean): void {
    this.#isOnlyTheSessions();
    if (hasMoved) this.#waitsIn = this.spec.places.identityOf(bytesOf(directory));
  }

  /** Everything but the word to begin; returns the descriptor of its input where it has one, for the caller to close. */
  prepareCommand(feed: CommandFeed): number | undefined {
    const { dialect } = this.spec;
    this.#tend(feed);
    const { prologue, file, isHarmless, execsProgram } = dialect.commandScript(feed, this.dir);
    if (file !== undefined) this.#writeCommand(file);
    this.#prologue = prologue;
    this.files.mayReport = !isHarmless;
    this.execsProgram = execsProgram === true;
    const stdinFd = this.#stdinFd!;
    this.#stdinFd = undefined;
    if (feed.hasStdin) return stdinFd;
    closeFd(stdinFd);
    return undefined;
  }

  /**
   * Wakes the shell. It is to be the last thing for the moment: the system likes to put the one that is woken on the
   * processor of the one that wakes it, where it waits until that one sleeps.
   */
  begin(): void {
    const fd = this.#commandFd;
    if (fd === undefined) return; // stopped before it began
    this.#commandFd = undefined;
    this.hasBegun = true;
    this.#visits?.end();
    const word = this.spec.dialect.inPlaceKind && !this.isLean ? inPlaceWords.none : "";
    this.#tell(fd, shellFiles.prologue, this.#prologue, word);
  }

  #tend({ commandId }: CommandFeed): void {
    const { pid } = this.process;
    this.ownership.addRoot(pid, { sessionId: this.spec.sessionId, commandId });
    sendSignal(pid, "SIGCONT"); // somebody may have stopped it while it waited
  }

  /** For a shell that never got a command for itself: its inputs end, and so does it. */
  async discard(): Promise<void> {
    for (const fd of [this.#stateFd, this.#commandFd, this.#stdinFd]) if (fd !== undefined) closeFd(fd);
    this.#stateFd = this.#commandFd = this.#stdinFd = undefined;
    if (!this.#hasEnded) sendSignal(this.process.pid, "SIGKILL");
    await this.process.exited;
    await this.ownership.removeRoot(this.process.pid);
    await Promise.all([this.process.output.close(), this.#visits?.close()]);
    this.files.remove();
  }

  /** Its sandbox shows what one that is made now would hide, such as the socket of a daemon that came later. */
  get isOutdated(): boolean {
    return (
      this.spec.sessionIsolation !== undefined &&
      String(this.spec.sessionIsolation.hiddenNow) !== this.#hidden
    );
  }

  #spawn(): SpawnedProcess {
    const { dialect, shell, launchEnv, sessionIsolation } = this.spec;
    this.#hidden = String(sessionIsolation?.hiddenNow);
    this.#writeFile(dialect.bootFile, dialect.bootScript(this.dir, this.isLean));
    const { argv, env } = dialect.launch(shell, this.dir);
    const request = {
      argv: sessionIsolation?.wrap(argv, { workingDir: "/", ownDir: this.dir }).argv ?? argv,
      env: { ...launchEnv.all(), ...env },
      workingDir: "/",
      extraInputs: 3,
      extraOutputs: dialect.inPlaceKind && canMeterInPlace && !sessionIsolation && !this.isLean ? 1 : 0,
      openStdin: false,
    };
    return this.ownership.start(this.spec.sessionId, () => spawnProcess(request));
  }

  /** A long script goes by way of a file: the pipe takes one page without waiting for its reader. */
  #tell(fd: number, file: string, script: ByteString, before: ByteString = ""): void {
    const isLong = before.length + script.length > pipeSyncWriteMaxBytes;
    if (isLong) this.#writeFile(file, script);
    const told = isLong ? `${this.spec.dialect.source} ${quote(fromText(`${this.dir}/${file}`))}\n` : script;
    writeAndClose(fd, bytesOf(before + told));
  }

  /** Somebody may have cleaned up meanwhile: what is open is then no longer the file that the shell will find. */
  #writeCommand(text: ByteString): void {
    const fd = this.files.commandFd;
    const isWritten = fd !== undefined && fstatSync(fd).nlink > 0 && rewriteFile(fd, bytesOf(text));
    if (!isWritten) this.#writeFile(this.spec.dialect.commandFile, text);
  }

  #writeFile(name: string, text: ByteString): void {
    withPrivateUmask(() => writeFileSync(`${this.dir}/${name}`, bytesOf(text)));
  }
}

function asSpawnError(error: unknown, shell: string): TrlError {
  if (error instanceof TrlError) return error;
  return new TrlError("SPAWN_FAILED", `${shell} could not be started: ${failureOf(error)}`);
}
