// Which session each process belongs to. Roots are what the daemon started itself. What left its parents behind (setsid,
// double fork, nohup) comes back to the daemon as the subreaper (Linux) and is attributed by its control group, by its
// process group, by the mark that it inherited, by the tags in its environment, then by when it appeared. Elsewhere the
// tags alone must do. A look takes as long as there are processes, so it is made in slices (slices.ts).

import { becomeSubreaper, endedChild, kill, reap } from "../../platform/libc.ts";
import { type ProcessEntry, processTable, sendSignal } from "../../platform/process-table.ts";
import type { OwnershipState } from "../../upgrade/schema/document.ts";
import { ExecInProgress } from "./exec-in-progress.ts";
import { Exemption } from "./exemption.ts";
import { type Adopted, processesOf, stillThere } from "./known-processes.ts";
import { Marks } from "./marks.ts";
import { isSelected, type OwnedBy, type Selection } from "./selection.ts";
import { inSlices, type Steps } from "./time-slicer.ts";
import { type Owner, ownerFromTags } from "./tags.ts";

/** When so many are remembered, those that have ended are forgotten. */
const metAtFirst = 1024;

export interface Look {
  /** Living processes, roots included. */
  members: ProcessEntry[];
  /**
   * A process that forks and ends all the time can slip through a look, but it leaves dead ones behind: only a look
   * that met none is certain.
   */
  isCertain: boolean;
}

/** What a look has met that may be of the session or command that it is about. */
interface Watch {
  selection: Selection;
  hasMetDead: boolean;
}

export class ProcessOwnership {
  #sessions = new Set<string>();
  #territories = new Map<string, OwnedBy>();
  /** Children that whoever became this daemon by `exec` had before: none of ours. */
  readonly #foreign: Set<number>;
  /** For what the daemon starts for itself. */
  readonly exemption: Exemption;
  readonly #becoming = new ExecInProgress();
  readonly #marks: Marks | undefined;
  #roots = new Map<number, Owner>();
  #adopted: Map<number, Adopted>;
  #hasLeftSomething: Set<string>;
  readonly #watches = new Set<Watch>();
  /** Processes met as somebody's descendants: if they lose their parents, it is known whose they are. */
  #met: Map<number, Adopted>;
  /** Twice as many as were alive when the ended ones were last removed, so that removing them takes linear time. */
  #metMax = metAtFirst;
  readonly pids = (): number[] => [...this.#roots.keys(), ...this.#adopted.keys()];

  /** Where orphans cannot be adopted (macOS), groups and tags must do. */
  constructor(
    readonly adoptsOrphans = becomeSubreaper(),
    before?: OwnershipState,
    daemonTag = "",
    readonly isInit = process.pid === 1,
  ) {
    this.exemption = new Exemption(before?.exempt);
    this.#marks = adoptsOrphans ? new Marks(daemonTag, before?.marks) : undefined;
    this.#foreign = new Set(before?.foreign ?? (adoptsOrphans ? processTable.childrenOf(process.pid) : []));
    this.#hasLeftSomething = new Set(before?.hasLeftSomething);
    this.#adopted = stillThere(before?.adopted ?? []);
    this.#met = stillThere(before?.met ?? []);
  }

  /** Sessions and roots come with those that they belong to. */
  pack(): OwnershipState {
    return {
      exempt: this.exemption.env.TRL_EXEMPT,
      foreign: [...this.#foreign],
      hasLeftSomething: [...this.#hasLeftSomething],
      adopted: processesOf(this.#adopted),
      met: processesOf(this.#met),
      marks: this.#marks?.pack(),
    };
  }

  /** From now on the session's tag is believed; its territory, where it has one, above all else. */
  addSession(sessionId: string, territory?: OwnedBy): void {
    this.#sessions.add(sessionId);
    this.#marks?.add(sessionId);
    if (territory) this.#territories.set(sessionId, territory);
  }

  removeSession(sessionId: string): void {
    this.#sessions.delete(sessionId);
    this.#marks?.remove(sessionId);
    this.#territories.delete(sessionId);
    this.#hasLeftSomething.delete(sessionId);
  }

  /** Starts a process of a session, with the session's mark. */
  start<T>(sessionId: string, start: () => T): T {
    return this.#marks ? this.#marks.start(sessionId, start) : start();
  }

  addRoot(pid: number, owner: Owner): void {
    this.#roots.set(pid, owner);
  }

  /** Call when a root has ended: what it left behind is taken over at once, while its group is still known. */
  removeRoot(pid: number): void | Promise<void> {
    return inSlices(this.#removeRoot(pid));
  }

  *#removeRoot(pid: number): Steps<void> {
    const owner = this.#roots.get(pid);
    yield* this.#takeOver(owner);
    // Meanwhile the system may have given its pid to another root.
    if (this.#roots.get(pid) === owner) this.#roots.delete(pid);
  }

  get adoptedCount(): number {
    return this.#adopted.size;
  }

  /** Of the members of a session, those that are neither a waiting shell nor the running command, nor started by those. */
  leftoversAmong(members: ProcessEntry[]): ProcessEntry[] {
    const entries = new Map(members.map((entry) => [entry.pid, entry]));
    const known = new Map<number, boolean>();
    const isOfRoot = (entry: ProcessEntry): boolean => {
      const path: number[] = [];
      let at: ProcessEntry | undefined = entry;
      while (at && !known.has(at.pid) && !this.#roots.has(at.pid)) {
        path.push(at.pid);
        known.set(at.pid, false); // a reused pid could make a circle
        at = entries.get(at.ppid);
      }
      const answer = at !== undefined && (this.#roots.has(at.pid) || known.get(at.pid) === true);
      for (const pid of path) known.set(pid, answer);
      return answer;
    };
    return members.filter((entry) => !isOfRoot(entry));
  }

  /** All living processes of a session or command, roots included. */
  look(selection: Selection): Look | Promise<Look> {
    return inSlices(this.find(selection));
  }

  async membersOf(selection: Selection): Promise<ProcessEntry[]> {
    return (await this.look(selection)).members;
  }

  /**
   * What is left, and whether that is nothing: a root that dies during one look leaves orphans where that look has
   * already been, so only two looks that find nothing are believed.
   */
  async lookForEnd(selection: Selection): Promise<{ members: ProcessEntry[]; hasEnded: boolean }> {
    for (let looks = 1; ; looks++) {
      const { members, isCertain } = await this.look(selection);
      const isEmpty = members.length === 0 && isCertain;
      if (!isEmpty || looks === 2) return { members, hasEnded: isEmpty };
    }
  }

  /** The steps of a look. */
  *find(selection: Selection): Steps<Look> {
    const watch: Watch = { selection, hasMetDead: false };
    this.#watches.add(watch);
    try {
      yield* this.#takeOver(undefined);
      const members = this.adoptsOrphans
        ? yield* this.#membersByDescent(selection, watch)
        : yield* this.#membersByTag(selection);
      return { members, isCertain: !watch.hasMetDead };
    } finally {
      this.#watches.delete(watch);
    }
  }

  /** What a command that has ended left running. Cheap where nothing was left. */
  *leftoversOf(commandId: string, groupId: number): Steps<ProcessEntry[]> {
    const selection = { commandId };
    if (!this.adoptsOrphans) return sendSignal(-groupId, 0) ? yield* this.#membersByTag(selection) : [];
    if (this.#adopted.size === 0) return [];
    return yield* this.#membersByDescent(selection, { selection, hasMetDead: false });
  }

  /** Takes over orphans, and takes the wait status of those that have ended. To be called now and then. */
  tend(): void | Promise<void> {
    return inSlices(this.#takeOver(undefined));
  }

  /** The same when some child has ended. Most are roots, whose status Bun has taken by then. */
  reapEnded(): void | Promise<void> {
    return this.adoptsOrphans && endedChild() !== undefined ? this.tend() : undefined;
  }

  *#takeOver(justEnded: Owner | undefined): Steps<void> {
    if (!this.adoptsOrphans) return;
    yield* this.#reapAdopted();
    for (const adopted of this.#adopted.values()) {
      if (adopted.owner) continue;
      this.#askAgain(adopted);
      yield;
    }
    const territories = new OwnedByMap(this.#territories);
    for (const pid of processTable.childrenOf(process.pid)) {
      if (this.#roots.has(pid) || this.#adopted.has(pid) || this.#foreign.has(pid)) continue;
      const entry = processTable.entry(pid);
      // One that has been reaped since the list was read has a pid that may be another's by now.
      if (entry?.ppid === process.pid && !this.exemption.covers(entry)) {
        if (entry.isZombie) this.#reapUnknown(pid);
        else this.#adopt(entry, this.#ownerOf(entry, justEnded, territories));
      }
      yield;
    }
  }

  /** To ask the system for one ended child after the other would go through all children for each. */
  *#reapAdopted(): Steps<void> {
    if (endedChild() === undefined) return;
    for (const pid of this.#adopted.keys()) {
      this.#reap(pid);
      yield;
    }
  }

  #reap(pid: number): void {
    if (!reap(pid)) return;
    const owner = this.#adopted.get(pid)?.owner;
    this.#adopted.delete(pid);
    this.#metDead(owner);
  }

  /** Came and ended between two looks. */
  #reapUnknown(pid: number): void {
    const isWatched = this.#watches.size > 0;
    const sessionId = isWatched ? this.#marks?.sessionOf(pid) : undefined;
    reap(pid);
    this.#metDead(sessionId === undefined ? undefined : { sessionId });
  }

  /** Something that may have left others behind: looks that it could concern are not certain. */
  #metDead(owner: Owner | undefined): void {
    for (const watch of this.#watches) {
      const { selection } = watch;
      watch.hasMetDead ||= !owner || !this.#isOfAnother(owner, selection);
    }
  }

  #isOfAnother(owner: Owner, selection: Selection): boolean {
    if (selection === "everything") return false;
    if ("sessionId" in selection) return owner.sessionId !== selection.sessionId;
    if (owner.commandId !== undefined) return owner.commandId !== selection.commandId;
    for (const root of this.#roots.values())
      if (root.commandId === selection.commandId) return root.sessionId !== owner.sessionId;
    return false;
  }

  /** In the middle of execve it could not say whose it is. */
  #askAgain(adopted: Adopted): void {
    const tagged = ownerFromTags(adopted.entry.pid);
    if (tagged && this.#sessions.has(tagged.sessionId)) {
      adopted.owner = tagged;
      this.#hasLeftSomething.add(tagged.sessionId);
    } else if (this.#becoming.covers(adopted.entry)) this.#metDead(undefined);
  }

  #adopt(entry: ProcessEntry, owner: Owner | undefined): void {
    this.#adopted.set(entry.pid, { entry, owner });
    if (owner) this.#hasLeftSomething.add(owner.sessionId);
    else this.#metDead(undefined); // it is asked once more before any look counts
  }

  #ownerOf(entry: ProcessEntry, justEnded: Owner | undefined, territories: OwnedByMap): Owner | undefined {
    const territory = territories.sessionOf(entry.pid);
    if (territory !== undefined) return this.#commandIn(territory, justEnded) ?? { sessionId: territory };
    const met = this.#met.get(entry.pid);
    if (met?.entry.startTime === entry.startTime) return met.owner;
    for (const related of [entry.sid, entry.pgid]) {
      const owner = this.#roots.get(related) ?? this.#adopted.get(related)?.owner;
      if (owner) return owner;
    }
    const marked = this.#marks?.sessionOf(entry.pid);
    const tagged = ownerFromTags(entry.pid);
    const sessionId = marked ?? tagged?.sessionId;
    // Any program can set a variable: only sessions and commands that exist are believed.
    if (sessionId === undefined || !this.#sessions.has(sessionId)) {
      // PID 1 of a container also inherits orphans that no session has started, as of `docker exec`.
      const isStranger = this.isInit && this.#marks?.isUnmarked(entry.pid) === true;
      return isStranger ? undefined : this.#onlyCandidate(justEnded);
    }
    if (tagged?.sessionId === sessionId && this.#isCommand(tagged.commandId)) return tagged;
    return this.#commandIn(sessionId, justEnded) ?? { sessionId };
  }

  #isCommand(commandId: string | undefined): boolean {
    if (commandId === undefined) return false;
    for (const owner of this.#roots.values()) if (owner.commandId === commandId) return true;
    for (const { owner } of this.#adopted.values()) if (owner?.commandId === commandId) return true;
    return false;
  }

  /** A session runs one command at a time. */
  #commandIn(sessionId: string, justEnded: Owner | undefined): Owner | undefined {
    const isRunning = (owner: Owner | undefined) =>
      owner?.sessionId === sessionId && owner.commandId !== undefined;
    for (const owner of this.#roots.values()) if (isRunning(owner)) return owner;
    return isRunning(justEnded) ? justEnded : undefined;
  }

  /**
   * For one that cleared its environment and left its group where nothing is marked: it comes from a session that runs
   * a command, or that has left something behind before. With one such session it is clear whose it is.
   */
  #onlyCandidate(justEnded: Owner | undefined): Owner | undefined {
    const candidates = new Set(this.#hasLeftSomething);
    for (const owner of [...this.#roots.values(), justEnded])
      if (owner?.commandId) candidates.add(owner.sessionId);
    const [sessionId, another] = candidates;
    if (sessionId === undefined || another !== undefined) return undefined;
    return this.#commandIn(sessionId, justEnded) ?? { sessionId };
  }

  *#membersByDescent(selection: Selection, watch: Watch): Steps<ProcessEntry[]> {
    const starts: { pid: number; owner: Owner | undefined; parent: number | undefined }[] = [];
    const parent = process.pid;
    for (const [pid, owner] of this.#roots)
      if (isSelected(owner, selection)) starts.push({ pid, owner, parent });
    for (const [pid, { owner }] of this.#adopted)
      if (isSelected(owner, selection)) starts.push({ pid, owner, parent });
    const sessionId =
      typeof selection === "object" && "sessionId" in selection ? selection.sessionId : undefined;
    const territory = sessionId === undefined ? undefined : this.#territories.get(sessionId);
    for (const pid of territory?.() ?? [])
      starts.unshift({ pid, owner: { sessionId: sessionId! }, parent: undefined });
    const members = new Map<number, ProcessEntry>();
    for (let next = starts.pop(); next !== undefined; next = starts.pop()) {
      const { pid, owner } = next;
      if (members.has(pid)) continue;
      const entry = processTable.entry(pid);
      // A child whose parent has ended since is an orphan by now, which another look finds, or its pid is another's.
      const hasGone = !entry || entry.isZombie || entry.ppid !== (next.parent ?? entry.ppid);
      if (hasGone) {
        watch.hasMetDead ||= !this.#roots.has(pid);
        if (!entry?.isZombie && next.parent === parent) this.#adopted.delete(pid); // its status was taken elsewhere
      } else {
        members.set(pid, entry);
        for (const child of processTable.childrenOf(pid, entry.threads))
          starts.push({ pid: child, owner, parent: pid });
        if (owner) this.#meet(entry, owner);
      }
      yield;
    }
    return [...members.values()];
  }

  #meet(entry: ProcessEntry, owner: Owner): void {
    if (this.#met.size >= this.#metMax) {
      for (const pid of this.#met.keys()) if (!kill(pid, 0)) this.#met.delete(pid);
      this.#metMax = Math.max(metAtFirst, this.#met.size * 2);
    }
    this.#met.set(entry.pid, { entry, owner });
  }

  /** "Everything" is everything of ours: the table lists everybody's. */
  *#membersByTag(selection: Selection): Steps<ProcessEntry[]> {
    const groups = new Map([...this.#roots].filter(([, owner]) => isSelected(owner, selection)));
    const members: ProcessEntry[] = [];
    for (const entry of processTable.list()) {
      if (entry.isZombie || entry.pid === process.pid) continue;
      const owner = groups.get(entry.pgid) ?? ownerFromTags(entry.pid);
      const isKnown = groups.has(entry.pgid) || (owner && this.#sessions.has(owner.sessionId));
      if (isKnown && isSelected(owner, selection)) members.push(entry);
      yield;
    }
    return members;
  }
}

/** All territories together, read once in a look, and only where it meets a new orphan. */
class OwnedByMap {
  #sessions: Map<number, string> | undefined;

  constructor(readonly territories: ReadonlyMap<string, OwnedBy>) {}

  sessionOf(pid: number): string | undefined {
    if (this.territories.size === 0) return undefined;
    this.#sessions ??= new Map(
      [...this.territories].flatMap(([id, members]) => members().map((member) => [member, id] as const)),
    );
    return this.#sessions.get(pid);
  }
}
