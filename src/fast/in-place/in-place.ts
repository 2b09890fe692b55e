// The in-place accelerator: an idle bash runs builtins itself and waits on, so that they cost no fork and no new shell.
import type { InPlaceRunner, InPlaceSession } from "../../core/command/runners/accelerators.ts";
import type { Launched } from "../../core/command/runners/runner.ts";
import { ownCopy } from "../../core/command/runners/shell-state.ts";
import { bash } from "../../core/command/shell/bash/bash.ts";
import type { CommandFeed, ShellDialect, ShellState } from "../../core/command/shell/dialect.ts";
import { internList } from "../../util/intern.ts";
import { type InPlaceKind, inPlaceKind } from "./in-place-kind.ts";
import type { InPlaceEnd } from "./in-place-runs.ts";
import { InPlaceShell } from "./in-place-shell.ts";

/** The receipt needs the processor time of a running process, which only Linux provides. */
const isSupported = process.platform === "linux";

export const inPlace = (dialect: ShellDialect): InPlaceRunner | undefined =>
  dialect === bash && isSupported ? runner : undefined;

const runner: InPlaceRunner = {
  accepts: (feed) => inPlaceKind(feed) !== undefined,
  newShell: (spec, dir, ownership) => new InPlaceShell(spec, dir, ownership),
  launch(shell, feed, session) {
    const kind = shell instanceof InPlaceShell ? inPlaceKind(feed) : undefined;
    return kind && launch(shell as InPlaceShell, feed, kind, session);
  },
};

function launch(
  shell: InPlaceShell,
  feed: CommandFeed,
  kind: InPlaceKind,
  session: InPlaceSession,
): Launched {
  const run = shell.prepareInPlace(feed, kind);
  const { shellState, supply } = session;
  return {
    process: run.process,
    canBeHandedOver: () => false,
    stdinFd: undefined,
    mayHandleSignals: () => false,
    begin: () => run.begin(),
    settle: (outcome) => {
      const { end } = run;
      const hasBegun = end !== undefined || shell.hasTakenRun;
      // A signal may reach the shell a moment after the command has ended.
      const isReusable = end?.variables !== undefined && !outcome.wasSignalled;
      if (!isReusable) void supply.discard(shell);
      if (!end || !outcome.isOwnEnd) return session.settle(outcome, hasBegun);
      shellState.endedWithoutReport(end.exitCode, changesIn(shellState.state, end));
      if (isReusable) reuse(shell, feed, end, session);
      return true;
    },
  };
}

function reuse(shell: InPlaceShell, feed: CommandFeed, end: InPlaceEnd, { supply }: InPlaceSession): void {
  shell.ranInPlace(end.workingDir, end.workingDir !== feed.workingDir);
  supply.commandEnded();
  supply.putBack(shell);
}

/** Empty where the command changed nothing. With a list that was too long, the variables stay as they were. */
function changesIn(
  state: ShellState,
  { workingDir, previousDir, variables }: InPlaceEnd,
): Partial<ShellState> {
  const changed = variables ? bash.withVariables!(state, variables) : undefined;
  const hasMoved = workingDir !== state.workingDir || previousDir !== state.previousDir;
  if (!changed && !hasMoved) return {};
  const { exportedNames } = changed ?? state;
  const isOldpwdNew = previousDir !== undefined && !exportedNames.includes("OLDPWD");
  const names = isOldpwdNew ? [...exportedNames, "OLDPWD"] : exportedNames;
  return {
    workingDir,
    previousDir,
    ...(changed && { script: ownCopy(changed.script) }),
    ...((changed || isOldpwdNew) && { exportedNames: internList(names) }),
  };
}
