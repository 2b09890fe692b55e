// Process ownership: which session each process belongs to. Roots are the processes that the daemon started itself. On
// Linux the daemon is the subreaper, so it adopts descendants that lost their parents (setsid, double fork, nohup), and
// finds their owner by control group, process group, inherited mark, tags in the environment, then by when they appeared.
// On other systems process groups and tags decide. The time of a scan grows with the number of processes, so it runs in
// time slices (time-slicer.ts).

import { becomeSubreaper, endedChild } from "../../platform/children.ts";
import { kill, reap } from "../../platform/libc.ts";
import { type ProcessEntry, processTable, sendSignal } from "../../platform/process-table.ts";
import type { OwnershipState } from "../../upgrade/schema/document.ts";
import { ExecInProgress } from "./exec-in-progress.ts";
import { Exemption } from "./exemption.ts";
import { type KnownProcess, packProcesses, unpackProcesses } from "./known-processes.ts";
import { Marks } from "./marks.ts";
import { isSelected, type Owner, ownerFromTags, type Selection } from "./tags.ts";
import { type Steps, TimeSlicer } from "./time-slicer.ts";

/** At this size of the cache of descendants, those that have ended are removed from it. */
const descendantsMin = 1024;

export interface Scan {
  /** Living processes, roots included. */
  members: ProcessEntry[];
  /**
   * A process that forks and ends all the time can slip through a scan, but it leaves zombies behind: only a scan that
   * met none is complete.
   */
  isComplete: boolean;
}

/** A scan in progress, and whether it has met a zombie that may belong to its selection. */
interface ActiveScan {
  selection: Selection;
  hasMetZombie: boolean;
}

/** Lists the processes in a session's control group. */
export type CgroupMembers = () => number[];

export class ProcessOwnership {
  /** Runs scans, and all other work in proportion to the number of processes. */
  readonly slicer = new TimeSlicer();
  #sessions = new Set<string>();
  #cgroups = new Map<string, CgroupMembers>();
  /** Children that this process had before it became the daemon by `exec`. No session owns them. */
  readonly #foreign: Set<number>;
  /** For processes that the daemon starts for itself. */
  readonly exemption: Exemption;
  readonly #execInProgress = new ExecInProgress();
  readonly #marks: Marks | undefined;
  #roots = new Map<number, Owner>();
  #adopted: Map<number, KnownProcess>;
  #sessionsWithOrphans: Set<string>;
  readonly #activeScans = new Set<ActiveScan>();
  /** Cache of descendants that scans have found, for when they lose their parents. */
  #descendants: Map<number, KnownProcess>;
  /** Twice the number that was alive at the last removal, so that removing ended ones takes amortised linear time. */
  #descendantsMax = descendantsMin;
  readonly pids = (): number[] => [...this.#roots.keys(), ...this.#adopted.keys()];

  /** Without `adoptsOrphans` (macOS) process groups and tags decide. */
  constructor(
    readonly adoptsOrphans = becomeSubreaper(),
    before?: OwnershipState,
    daemonTag = "",
    readonly isInit = process.pid === 1,
  ) {
    this.exemption = new Exemption(before?.exempt);
    this.#marks = adoptsOrphans ? new Marks(daemonTag, before?.marks) : undefined;
    this.#foreign = new Set(before?.foreign ?? (adoptsOrphans ? processTable.childrenOf(process.pid) : []));
    this.#sessionsWithOrphans = new Set(before?.hasLeftSomething);
    this.#adopted = unpackProcesses(before?.adopted ?? []);
    this.#descendants = unpackProcesses(before?.met ?? []);
  }

  /** Without sessions and roots: the sessions register themselves again. */
  pack(): OwnershipState {
    return {
      exempt: this.exemption.env.TRL_EXEMPT,
      foreign: [...this.#foreign],
      hasLeftSomething: [...this.#sessionsWithOrphans],
      adopted: packProcesses(this.#adopted),
      met: packProcesses(this.#descendants),
      marks: this.#marks?.pack(),
    };
  }

  /** From now on the session's tag counts; its control group takes precedence over all other evidence. */
  addSession(sessionId: string, cgroup?: CgroupMembers): void {
    this.#sessions.add(sessionId);
    this.#marks?.add(sessionId);
    if (cgroup) this.#cgroups.set(sessionId, cgroup);
  }

  removeSession(sessionId: string): void {
    this.#sessions.delete(sessionId);
    this.#marks?.remove(sessionId);
    this.#cgroups.delete(sessionId);
    this.#sessionsWithOrphans.delete(sessionId);
  }

  /** Starts a process of a session, with the session's mark. */
  start<T>(sessionId: string, start: () => T): T {
    return this.#marks ? this.#marks.start(sessionId, start) : start();
  }

  addRoot(pid: number, owner: Owner): void {
    this.#roots.set(pid, owner);
  }

  /** Called when a root has ended: adopts its orphans right away, while its group is still known. */
  removeRoot(pid: number): void | Promise<void> {
    return this.slicer.run(this.#removeRoot(pid));
  }

  *#removeRoot(pid: number): Steps<void> {
    const owner = this.#roots.get(pid);
    yield* this.#adoptAndReap(owner);
    // Meanwhile another root may have got the same pid.
    if (this.#roots.get(pid) === owner) this.#roots.delete(pid);
  }

  get adoptedCount(): number {
    return this.#adopted.size;
  }

  /** The members of a session that do not descend from its warm shell or its running command. */
  leftoversAmong(members: ProcessEntry[]): ProcessEntry[] {
    const entries = new Map(members.map((entry) => [entry.pid, entry]));
    const known = new Map<number, boolean>();
    const isOfRoot = (entry: ProcessEntry): boolean => {
      const path: number[] = [];
      let at: ProcessEntry | undefined = entry;
      while (at && !known.has(at.pid) && !this.#roots.has(at.pid)) {
        path.push(at.pid);
        known.set(at.pid, false); // a reused pid could make a cycle
        at = entries.get(at.ppid);
      }
      const answer = at !== undefined && (this.#roots.has(at.pid) || known.get(at.pid) === true);
      for (const pid of path) known.set(pid, answer);
      return answer;
    };
    return members.filter((entry) => !isOfRoot(entry));
  }

  /** All living processes of a session or command, roots included. */
  scan(selection: Selection): Scan | Promise<Scan> {
    return this.slicer.run(this.scanSteps(selection));
  }

  async membersOf(selection: Selection): Promise<ProcessEntry[]> {
    return (await this.scan(selection)).members;
  }

  /**
   * The living processes, and whether there are none. A root that dies during a scan leaves orphans in a part that the
   * scan has passed, so it takes two empty scans in a row.
   */
  async scanForEnd(selection: Selection): Promise<{ members: ProcessEntry[]; hasEnded: boolean }> {
    for (let scans = 1; ; scans++) {
      const { members, isComplete } = await this.scan(selection);
      const isEmpty = members.length === 0 && isComplete;
      if (!isEmpty || scans === 2) return { members, hasEnded: isEmpty };
    }
  }

  /** The steps of a scan, for callers that run them as part of larger work. */
  *scanSteps(selection: Selection): Steps<Scan> {
    const scan: ActiveScan = { selection, hasMetZombie: false };
    this.#activeScans.add(scan);
    try {
      yield* this.#adoptAndReap(undefined);
      const members = this.adoptsOrphans
        ? yield* this.#membersByDescent(selection, scan)
        : yield* this.#membersByTag(selection);
      return { members, isComplete: !scan.hasMetZombie };
    } finally {
      this.#activeScans.delete(scan);
    }
  }

  /** The leftover processes of a command that has ended. Fast if there are none. */
  *leftoversOf(commandId: string, groupId: number): Steps<ProcessEntry[]> {
    const selection = { commandId };
    if (!this.adoptsOrphans) return sendSignal(-groupId, 0) ? yield* this.#membersByTag(selection) : [];
    if (this.#adopted.size === 0) return [];
    return yield* this.#membersByDescent(selection, { selection, hasMetZombie: false });
  }

  /** Adopts orphans, and reaps those that have ended. Called periodically. */
  adoptAndReap(): void | Promise<void> {
    return this.slicer.run(this.#adoptAndReap(undefined));
  }

  /** The same when some child has ended. Most are roots, which Bun has reaped by then. */
  reapEnded(): void | Promise<void> {
    return this.adoptsOrphans && endedChild() !== undefined ? this.adoptAndReap() : undefined;
  }

  *#adoptAndReap(justEnded: Owner | undefined): Steps<void> {
    if (!this.adoptsOrphans) return;
    yield* this.#reapAdopted();
    for (const adopted of this.#adopted.values()) {
      if (adopted.owner) continue;
      this.#readTagsAgain(adopted);
      yield;
    }
    const cgroups = new CgroupIndex(this.#cgroups);
    for (const pid of processTable.childrenOf(process.pid)) {
      if (this.#roots.has(pid) || this.#adopted.has(pid) || this.#foreign.has(pid)) continue;
      const entry = processTable.entry(pid);
      // A child that was reaped after the list was read has a pid that may be reused by now.
      if (entry?.ppid === process.pid && !this.exemption.covers(entry)) {
        if (entry.isZombie) this.#reapUnknown(pid);
        else this.#adopt(entry, this.#ownerOf(entry, justEnded, cgroups));
      }
      yield;
    }
  }

  /** Tries each adopted process: asking the kernel for any ended child walks all children each time. */
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
    this.#metZombie(owner);
  }

  /** An orphan that came and ended between two scans. */
  #reapUnknown(pid: number): void {
    const isScanning = this.#activeScans.size > 0;
    const sessionId = isScanning ? this.#marks?.sessionOf(pid) : undefined;
    reap(pid);
    this.#metZombie(sessionId === undefined ? undefined : { sessionId });
  }

  /** A dead process may have left orphans: a scan is not complete if its selection may include that process. */
  #metZombie(owner: Owner | undefined): void {
    for (const scan of this.#activeScans)
      scan.hasMetZombie ||= !owner || !this.#isOfAnother(owner, scan.selection);
  }

  #isOfAnother(owner: Owner, selection: Selection): boolean {
    if (selection === "everything") return false;
    if ("sessionId" in selection) return owner.sessionId !== selection.sessionId;
    if (owner.commandId !== undefined) return owner.commandId !== selection.commandId;
    for (const root of this.#roots.values())
      if (root.commandId === selection.commandId) return root.sessionId !== owner.sessionId;
    return false;
  }

  /** A process without an owner may have been in the middle of execve, when it has no tags. */
  #readTagsAgain(adopted: KnownProcess): void {
    const tagged = ownerFromTags(adopted.entry.pid);
    if (tagged && this.#sessions.has(tagged.sessionId)) {
      adopted.owner = tagged;
      this.#sessionsWithOrphans.add(tagged.sessionId);
    } else if (this.#execInProgress.covers(adopted.entry)) this.#metZombie(undefined);
  }

  #adopt(entry: ProcessEntry, owner: Owner | undefined): void {
    this.#adopted.set(entry.pid, { entry, owner });
    if (owner) this.#sessionsWithOrphans.add(owner.sessionId);
    else this.#metZombie(undefined); // its tags are read once more before a scan is complete
  }

  #ownerOf(entry: ProcessEntry, justEnded: Owner | undefined, cgroups: CgroupIndex): Owner | undefined {
    const grouped = cgroups.sessionOf(entry.pid);
    if (grouped !== undefined) return this.#commandIn(grouped, justEnded) ?? { sessionId: grouped };
    const descendant = this.#descendants.get(entry.pid);
    if (descendant?.entry.startTime === entry.startTime) return descendant.owner;
    for (const related of [entry.sid, entry.pgid]) {
      const owner = this.#roots.get(related) ?? this.#adopted.get(related)?.owner;
      if (owner) return owner;
    }
    const marked = this.#marks?.sessionOf(entry.pid);
    const tagged = ownerFromTags(entry.pid);
    const sessionId = marked ?? tagged?.sessionId;
    // Any program can set a variable: only tags of existing sessions and commands count.
    if (sessionId === undefined || !this.#sessions.has(sessionId)) {
      // PID 1 of a container also adopts orphans that no session has started, for example of `docker exec`.
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
   * For a process that cleared its environment and left its group, without a mark: it comes from a session that runs a
   * command, or that has had orphans before. If there is one such session only, that is the owner.
   */
  #onlyCandidate(justEnded: Owner | undefined): Owner | undefined {
    const candidates = new Set(this.#sessionsWithOrphans);
    for (const owner of [...this.#roots.values(), justEnded])
      if (owner?.commandId) candidates.add(owner.sessionId);
    const [sessionId, another] = candidates;
    if (sessionId === undefined || another !== undefined) return undefined;
    return this.#commandIn(sessionId, justEnded) ?? { sessionId };
  }

  *#membersByDescent(selection: Selection, scan: ActiveScan): Steps<ProcessEntry[]> {
    const starts: { pid: number; owner: Owner | undefined; parent: number | undefined }[] = [];
    const parent = process.pid;
    for (const [pid, owner] of this.#roots)
      if (isSelected(owner, selection)) starts.push({ pid, owner, parent });
    for (const [pid, { owner }] of this.#adopted)
      if (isSelected(owner, selection)) starts.push({ pid, owner, parent });
    const sessionId =
      typeof selection === "object" && "sessionId" in selection ? selection.sessionId : undefined;
    const cgroup = sessionId === undefined ? undefined : this.#cgroups.get(sessionId);
    for (const pid of cgroup?.() ?? [])
      starts.unshift({ pid, owner: { sessionId: sessionId! }, parent: undefined });
    const members = new Map<number, ProcessEntry>();
    for (let next = starts.pop(); next !== undefined; next = starts.pop()) {
      const { pid, owner } = next;
      if (members.has(pid)) continue;
      const entry = processTable.entry(pid);
      // If the parent has ended meanwhile, the child is an orphan, which another scan finds, or its pid is reused.
      const hasEnded = !entry || entry.isZombie || entry.ppid !== (next.parent ?? entry.ppid);
      if (hasEnded) {
        scan.hasMetZombie ||= !this.#roots.has(pid);
        if (!entry?.isZombie && next.parent === parent) this.#adopted.delete(pid); // other code has reaped it
      } else {
        members.set(pid, entry);
        for (const child of processTable.childrenOf(pid, entry.threads))
          starts.push({ pid: child, owner, parent: pid });
        if (owner) this.#addDescendant(entry, owner);
      }
      yield;
    }
    return [...members.values()];
  }

  #addDescendant(entry: ProcessEntry, owner: Owner): void {
    if (this.#descendants.size >= this.#descendantsMax) {
      for (const pid of this.#descendants.keys()) if (!kill(pid, 0)) this.#descendants.delete(pid);
      this.#descendantsMax = Math.max(descendantsMin, this.#descendants.size * 2);
    }
    this.#descendants.set(entry.pid, { entry, owner });
  }

  /** "everything" means all owned processes: the table lists those of other users and programs, too. */
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

/** The members of all control groups, read at most once in a scan, when it finds a new orphan. */
class CgroupIndex {
  #sessions: Map<number, string> | undefined;

  constructor(readonly cgroups: ReadonlyMap<string, CgroupMembers>) {}

  sessionOf(pid: number): string | undefined {
    if (this.cgroups.size === 0) return undefined;
    this.#sessions ??= new Map(
      [...this.cgroups].flatMap(([id, members]) => members().map((member) => [member, id] as const)),
    );
    return this.#sessions.get(pid);
  }
}
