// Interfaces through which a stateful runner uses accelerators (src/fast). Each one is absent where it is switched off,
// and the runner then takes the plain way: start a shell, feed it the state, run the command, read a whole report.
import type { ProcessOwnership } from "../../process/ownership.ts";
import type { CommandOutcome } from "../command.ts";
import type { CommandFeed, ReportPlan, ShellDialect, ShellState } from "../shell/dialect.ts";
import type { Launched } from "./runner.ts";
import type { SessionShell } from "./session-shell.ts";
import type { ShellSpec } from "./shell-spec.ts";
import type { SessionShellState } from "./shell-state.ts";

export interface RunnerAccelerators {
  /** `warm-shells`. Plain: `ShellsOnDemand`. */
  shellSupply?(source: ShellSource): ShellSupply;
  /** `in-place`. Plain: every command has a shell of its own. Undefined for a dialect without in-place runs. */
  inPlace?(dialect: ShellDialect): InPlaceRunner | undefined;
  /** `direct-exec`. Plain: a shell starts every program. Undefined for a dialect with a state that it cannot read. */
  directExec?(spec: ShellSpec, ownership: ProcessOwnership): DirectLauncher | undefined;
  /** `short-reports`. Plain: every command reports everything. Undefined for a dialect that it cannot analyse. */
  reportPlanner?(dialect: ShellDialect): ReportPlanner | undefined;
}

/** The session for which a supply starts shells. */
export interface ShellSource {
  /** Starts a shell; throws where that fails. */
  newShell(): SessionShell;
  readonly state: ShellState;
  /** The session's limits also count a warm shell. */
  readonly isIsolated: boolean;
}

/** Hands out shells and disposes of unused ones. A runner reports the events that a supply needs to start shells ahead. */
export interface ShellSupply {
  /** The session was created. Throws where a shell is started ahead and fails. */
  open(): void;
  /** A shell that was started ahead, for the caller to use or to discard; undefined where there is none. */
  take(): SessionShell | undefined;
  /** Keeps a taken shell, in the session's current state, for the next command, or discards it. */
  putBack(shell: SessionShell): void;
  discard(shell: SessionShell): Promise<void>;
  /** Whether `putBack` would keep a shell now. */
  readonly keepsShells: boolean;
  /** A command with a shell of its own was begun. */
  commandBegan(): void;
  commandEnded(): void;
  /** The reply of a command with a shell of its own was sent, and no next command has come yet. */
  replied(): void;
  /** The same after a command that needed no shell. */
  repliedWithoutShell(): void;
  /** Discards what waits, and starts nothing until the next `take`. */
  rest(): void;
  /** Nothing waits and nothing is being discarded. */
  readonly isAtRest: boolean;
  dispose(): Promise<void>;
}

export interface DirectLauncher {
  /** Undefined where the command needs a shell. */
  launch(feed: CommandFeed, settle: (outcome: CommandOutcome) => void): Launched | undefined;
}

export interface InPlaceRunner {
  /** Whether an idle shell in this state could run the command in place. */
  accepts(feed: CommandFeed): boolean;
  /** A shell that can run commands in place. */
  newShell(spec: ShellSpec, dir: string, ownership: ProcessOwnership): SessionShell;
  /** Undefined where the command needs the shell for itself. */
  launch(shell: SessionShell, feed: CommandFeed, session: InPlaceSession): Launched | undefined;
}

/** What an in-place run changes of its session. */
export interface InPlaceSession {
  readonly shellState: SessionShellState;
  readonly supply: ShellSupply;
  /** The shell ended with the command, as one that the command has for itself. */
  settle(outcome: CommandOutcome, hasBegun: boolean): boolean;
}

export type ReportPlanner = (feed: CommandFeed) => ReportPlan;

export const planWholeReport: ReportPlanner = () => ({ report: "whole" });

/** The plain supply: no shell waits. */
export class ShellsOnDemand implements ShellSupply {
  #discarding = 0;
  readonly keepsShells = false;

  open(): void {}
  take(): undefined {}
  commandBegan(): void {}
  commandEnded(): void {}
  replied(): void {}
  repliedWithoutShell(): void {}
  rest(): void {}
  async dispose(): Promise<void> {}

  putBack(shell: SessionShell): void {
    void this.discard(shell);
  }

  async discard(shell: SessionShell): Promise<void> {
    this.#discarding++;
    await shell.discard();
    this.#discarding--;
  }

  get isAtRest(): boolean {
    return this.#discarding === 0;
  }
}
