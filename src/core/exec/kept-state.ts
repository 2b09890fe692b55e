// What a session's shell is like between commands, and how what it reports changes that.
import { intern, internList } from "../../util/intern.ts";
import type { CommandOutcome } from "./command.ts";
import type { LaunchRequest } from "./executor.ts";
import type { Places } from "./places.ts";
import { type ByteString, byteStringOf, bytesOf, quote } from "./shell/byte-string.ts";
import type { CommandFeed, ReportedState, ShellState, Surroundings } from "./shell/dialect.ts";
import type { ShellFiles } from "./shell-files.ts";
import type { VisitEnd } from "./shell-visits.ts";

/** A command, and the shell that reports for it. */
export interface Reporter {
  files: ShellFiles;
  feed: CommandFeed;
  request: LaunchRequest;
}

/** They may have to be done again, all of them. */
const untoldMax = 32;
const nothing: readonly CommandFeed[] = [];

export class KeptState {
  #state: ShellState;
  /** Of the last report. Most commands change nothing, and one that says the same need not be read again. */
  #lastReport: number | undefined;
  /** Visits after which their shell has not reported yet. */
  #untold = nothing;
  /** Whether that shell is like the state says. Otherwise it did those visits, or they were done again in it. */
  #isKnown = true;
  /** Whose report would say all. */
  #teller: ShellFiles | undefined;

  constructor(
    initial: ShellState,
    readonly places: Places,
  ) {
    this.#state = initial;
  }

  /** Whether that is all: nothing has been done that is still to be told. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** So much is not known that it is not to become more. */
  get isOverdue(): boolean {
    return this.#untold.length >= untoldMax;
  }

  /** As far as it has been told; in what a visit cannot change it is always so. */
  get known(): ShellState {
    return this.#state;
  }

  /** What makes a new shell like the last one. What that one has not told will be done again, once. */
  forNewShell(files?: ShellFiles): ShellState {
    if (this.#untold.length > 0) {
      const again = this.#untold.map(onceMore).join("");
      this.#state = { ...this.#state, script: `${this.#state.script}\n${again}` };
      this.#untold = nothing;
      this.#lastReport = undefined; // what says the same as that one says something else than this
    }
    if (!this.#isKnown) this.#teller = files;
    return this.#state;
  }

  /** A command that was stopped or killed changes nothing: it can be repeated from where it began. */
  ended({ files, feed, request }: Reporter, outcome: CommandOutcome): void {
    const reported = outcome.isOwnEnd && files.mayReport ? this.#read(files, feed) : undefined;
    this.#state = { ...this.#state, ...reported, lastStatus: outcome.exitCode };
    if (reported) this.#nowKnown();
    if (reported && request.workingDir !== undefined) this.#leaveGivenDirectory(feed);
  }

  /** Without a shell, which therefore is as it was. */
  ranProgram({ exitCode }: CommandOutcome): void {
    this.#state = { ...this.#state, lastStatus: exitCode };
  }

  /** The shell waits on, and perhaps has still to report. */
  visited(
    { files, feed }: Reporter,
    { exitCode, workingDir, previousDir }: VisitEnd,
    hasToTell: boolean,
  ): void {
    const { exportedNames } = this.#state;
    // What says the same as the last report would now say something new.
    if (workingDir !== feed.state.workingDir || previousDir !== feed.state.previousDir)
      this.#lastReport = undefined;
    const isNew = previousDir !== undefined && !exportedNames.includes("OLDPWD");
    this.#state = {
      ...{ ...this.#state, workingDir, previousDir, lastStatus: exitCode },
      exportedNames: isNew ? internList([...exportedNames, "OLDPWD"]) : exportedNames,
    };
    if (!hasToTell) return;
    this.#untold = [...this.#untold, feed];
    this.#isKnown = false;
    this.#teller = files;
  }

  /** The report of that shell is there. It is of no use after the visits were done again in another one. */
  told(files: ShellFiles): void {
    if (this.#isKnown || this.#teller !== files) return;
    const state = this.#state;
    const reported = this.#read(files, { state, workingDir: state.workingDir, place: "here", env: [] });
    if (!reported) return void this.forNewShell(); // its files were cleaned away, or there was no room for them
    this.#state = { ...this.#state, ...reported };
    this.#nowKnown();
  }

  #nowKnown(): void {
    this.#untold = nothing;
    this.#isKnown = true;
    this.#teller = undefined;
  }

  /** Nothing in it where it says the same as the last; undefined where it is not whole. */
  #read(files: ShellFiles, feed: Surroundings): Partial<ReportedState> | undefined {
    const report = files.readReport();
    const essence = report === undefined ? undefined : essenceOf(report.replaceAll(files.dir, ""));
    const isSame = essence === this.#lastReport;
    const reported = report === undefined || isSame ? undefined : files.parseReport(report, feed);
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

/** For a shell that may be anywhere. */
function onceMore({ command, workingDir, state }: CommandFeed): ByteString {
  return `builtin cd -- ${quote(workingDir)}\nOLDPWD=${quote(state.previousDir ?? "")}\n${command}\n`;
}

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
