// A session shell that can run commands in place before its last one.
import { SessionShell } from "../../core/command/runners/session-shell.ts";
import type { ShellSpec } from "../../core/command/runners/shell-spec.ts";
import { type CommandFeed, inPlaceWords } from "../../core/command/shell/dialect.ts";
import { type ByteString, bytesOf } from "../../core/process/byte-string.ts";
import type { ProcessOwnership } from "../../core/process/ownership.ts";
import { unreadBytes, writeWhole } from "../../platform/libc.ts";
import type { InPlaceKind } from "./in-place-kind.ts";
import { type InPlaceRun, InPlaceRuns } from "./in-place-runs.ts";

export class InPlaceShell extends SessionShell {
  readonly #runs: InPlaceRuns;

  constructor(spec: ShellSpec, dir: string, ownership: ProcessOwnership) {
    super(spec, dir, ownership, { runsInPlace: true });
    const [fd] = this.process.extraOutFds;
    this.#runs = new InPlaceRuns(this.process, fd!);
  }

  prepareInPlace({ commandId, command }: CommandFeed, { variables }: InPlaceKind): InPlaceRun {
    this.assignToCommand(commandId);
    this.writeCommand(command);
    const list = variables.length > 0 ? `builtin declare -p ${variables.join(" ")}\n` : undefined;
    return this.#runs.prepare(list !== undefined, (beforeWake) => {
      const fd = this.commandFd;
      if (fd === undefined) return; // the command was stopped before
      beforeWake();
      writeWhole(fd, bytesOf(list === undefined ? inPlaceWords.run : inPlaceWords.runAndList + list));
    });
  }

  /** Whether the shell has read the last run from its pipe; the command is the next thing that it does. */
  get hasTakenRun(): boolean {
    return this.commandFd === undefined || unreadBytes(this.commandFd) === 0;
  }

  ranInPlace(directory: ByteString, hasMoved: boolean): void {
    this.assignToSession();
    if (hasMoved) this.waitsIn(directory);
  }

  override begin(): void {
    if (this.commandFd !== undefined) this.#runs.end();
    super.begin();
  }

  override async discard(): Promise<void> {
    await super.discard();
    await this.#runs.close();
  }
}
