// What a session's shell is like between commands, and how what it reports changes that.
import { intern, internList } from "../../../util/intern.ts";
import { shellStateMaxBytes } from "../../limits.ts";
import { type ByteString, byteStringOf, bytesOf } from "../../process/byte-string.ts";
import type { CommandOutcome } from "../command.ts";
import type { SessionPaths } from "../session-paths.ts";
import type { CommandFeed, ReportedState, ShellState, Surroundings } from "../shell/dialect.ts";
import type { InPlaceEnd } from "./in-place-runs.ts";
import type { LaunchRequest } from "./runner.ts";
import type { ShellFiles } from "./shell-files.ts";

/** A command, and the shell that reports for it. */
export interface Reporter {
  files: ShellFiles;
  feed: CommandFeed;
  request: LaunchRequest;
}

export class SessionShellState {
  #state: ShellState;
  /** Of the last report. Most commands change nothing, and one that says the same need not be read again. */
  #lastReport: number | undefined;

  constructor(
    initial: ShellState,
    readonly places: SessionPaths,
  ) {
    this.#state = initial;
  }

  get state(): ShellState {
    return this.#state;
  }

  /** A command that was stopped or killed changes nothing: it can be repeated from where it began. */
  ended({ files, feed, request }: Reporter, outcome: CommandOutcome): void {
    const reported = outcome.isOwnEnd && files.mayReport ? this.#read(files, feed) : undefined;
    this.#state = { ...this.#state, ...reported, lastStatus: outcome.exitCode };
    if (reported && request.workingDir !== undefined) this.#leaveGivenDirectory(feed);
  }

  /** Without a shell, which therefore is as it was. */
  ranProgram({ exitCode }: CommandOutcome): void {
    this.#state = { ...this.#state, lastStatus: exitCode };
  }

  /** The shell waits on. Where its list was too long, the state is as it was, and the shell is not to be used any more. */
  ranInPlace({ files, feed }: Reporter, end: InPlaceEnd): void {
    const { exitCode, workingDir, previousDir, variables } = end;
    const changed = variables ? files.dialect.withVariables!(this.#state, variables) : undefined;
    // What says the same as the last report would now say something new.
    if (changed || workingDir !== feed.state.workingDir || previousDir !== feed.state.previousDir)
      this.#lastReport = undefined;
    const { script, exportedNames } = changed ?? this.#state;
    const isNew = previousDir !== undefined && !exportedNames.includes("OLDPWD");
    this.#state = {
      ...{ ...this.#state, workingDir, previousDir, lastStatus: exitCode },
      script: changed ? ownCopy(script) : script,
      exportedNames:
        changed || isNew ? internList(isNew ? [...exportedNames, "OLDPWD"] : exportedNames) : exportedNames,
    };
  }

  /** Nothing in it where it says the same as the last; undefined where it is not whole. */
  #read(files: ShellFiles, feed: Surroundings): Partial<ReportedState> | undefined {
    const report = files.readReport();
    const essence = report === undefined ? undefined : essenceOf(report.replaceAll(files.dir, ""));
    const isSame = essence === this.#lastReport;
    const reported = report === undefined || isSame ? undefined : files.parseReport(report, feed);
    if (reported && reported.script.length > shellStateMaxBytes) return undefined;
    // What was given to this command alone shows in its report, but is not the session's.
    const isOwn = feed.env.length === 0 && feed.place === "here";
    if (reported || !isOwn) this.#lastReport = reported && isOwn ? essence : undefined;
    return isSame && essence !== undefined ? {} : reported && apartFrom(reported);
  }

  /** A directory that was given for one command is left again, unless the command itself went elsewhere. */
  #leaveGivenDirectory(feed: CommandFeed): void {
    const { identityOf, isDirectory } = this.places;
    const hasMoved = identityOf(bytesOf(this.#state.workingDir)) !== identityOf(bytesOf(feed.workingDir));
    if (hasMoved || !isDirectory(bytesOf(feed.state.workingDir))) return;
    this.#state = { ...this.#state, workingDir: feed.state.workingDir };
  }
}

/** As many bits of its hash as fit in a number, which takes no memory of its own. */
const essenceOf = (report: ByteString): number => Number(BigInt.asUintN(53, BigInt(Bun.hash(report))));

/** Without holding on to the report, of which all of it is made: one short piece of it would keep all its bytes. */
const apartFrom = (reported: ReportedState): ReportedState => ({
  ...reported,
  workingDir: ownCopy(reported.workingDir),
  previousDir: reported.previousDir && ownCopy(reported.previousDir),
  script: ownCopy(reported.script),
  lateScript: intern(reported.lateScript),
  ...(reported.aliasScript === undefined ? {} : { aliasScript: ownCopy(reported.aliasScript) }),
  exportedNames: internList(reported.exportedNames),
});

const ownCopy = (text: ByteString): ByteString => byteStringOf(bytesOf(text));
