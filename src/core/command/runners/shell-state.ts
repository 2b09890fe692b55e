// The state of a session's shell between commands, and how a state report changes it.
import { intern, internList } from "../../../util/intern.ts";
import { shellStateMaxBytes } from "../../limits.ts";
import { type ByteString, byteStringOf, bytesOf } from "../../process/byte-string.ts";
import type { CommandOutcome } from "../command.ts";
import type { SessionPaths } from "../session-paths.ts";
import type { CommandFeed, ReportedState, ShellState, Surroundings } from "../shell/dialect.ts";
import type { LaunchRequest } from "./runner.ts";
import type { ShellFiles } from "./shell-files.ts";

/** A command, and the files of the shell that reports for it. */
export interface Reporter {
  files: ShellFiles;
  feed: CommandFeed;
  request: LaunchRequest;
}

export class SessionShellState {
  #state: ShellState;
  /** Hash of the last report. Most commands change nothing, and an equal report is not parsed again. */
  #lastReport: number | undefined;

  constructor(
    initial: ShellState,
    readonly paths: SessionPaths,
  ) {
    this.#state = initial;
  }

  get state(): ShellState {
    return this.#state;
  }

  /** A command that was stopped or killed changes nothing, so it can be repeated from the same state. */
  ended({ files, feed, request }: Reporter, outcome: CommandOutcome): void {
    const reported = outcome.isOwnEnd && files.mayReport ? this.#read(files, feed) : undefined;
    this.#state = { ...this.#state, ...reported, lastStatus: outcome.exitCode };
    if (reported && request.workingDir !== undefined) this.#leaveRequestDir(feed);
  }

  /** The command ran without a report; `changes` are what it did to the state. */
  endedWithoutReport(lastStatus: number, changes: Partial<ShellState> = {}): void {
    // A report that equals the last one would now describe a change.
    if (Object.keys(changes).length > 0) this.#lastReport = undefined;
    this.#state = { ...this.#state, ...changes, lastStatus };
  }

  /** Empty where the report equals the last one; undefined where it is missing or incomplete. */
  #read(files: ShellFiles, feed: Surroundings): Partial<ReportedState> | undefined {
    const report = files.readReport();
    const hash = report === undefined ? undefined : hashOf(report.replaceAll(files.dir, ""));
    const isSame = hash === this.#lastReport;
    const reported = report === undefined || isSame ? undefined : files.parseReport(report, feed);
    if (reported && reported.script.length > shellStateMaxBytes) return undefined;
    // A report also shows the directory and variables of this command alone, which are not the session's.
    const isOwn = feed.env.length === 0 && feed.place === "here";
    if (reported || !isOwn) this.#lastReport = reported && isOwn ? hash : undefined;
    return isSame && hash !== undefined ? {} : reported && withoutReport(reported);
  }

  /** Goes back from the directory of one request, unless the command itself changed the directory. */
  #leaveRequestDir(feed: CommandFeed): void {
    const { identityOf, isDirectory } = this.paths;
    const hasMoved = identityOf(bytesOf(this.#state.workingDir)) !== identityOf(bytesOf(feed.workingDir));
    if (hasMoved || !isDirectory(bytesOf(feed.state.workingDir))) return;
    this.#state = { ...this.#state, workingDir: feed.state.workingDir };
  }
}

/** As many bits of the hash as fit in a number, which takes no memory of its own. */
const hashOf = (report: ByteString): number => Number(BigInt.asUintN(53, BigInt(Bun.hash(report))));

/** Copies the strings: each is a slice of the report and would keep all of its bytes in memory. */
const withoutReport = (reported: ReportedState): ReportedState => ({
  ...reported,
  workingDir: ownCopy(reported.workingDir),
  previousDir: reported.previousDir && ownCopy(reported.previousDir),
  script: ownCopy(reported.script),
  lateScript: intern(reported.lateScript),
  ...(reported.aliasScript === undefined ? {} : { aliasScript: ownCopy(reported.aliasScript) }),
  exportedNames: internList(reported.exportedNames),
});

/** A copy that is no slice of a larger string. */
export const ownCopy = (text: ByteString): ByteString => byteStringOf(bytesOf(text));
