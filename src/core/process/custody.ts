// Who owns each process. Roots are what the daemon started itself. What left its parents behind (setsid, double
// fork, nohup) comes back to the daemon as the subreaper (Linux) and is attributed by the tags in its
// environment, then by its process group, then by when it appeared. Elsewhere the tags alone must do.
import type { CustodyState } from "../../protocol/handover/document.ts";
import { type Adopted, processesOf, stillThere } from "./adopted.ts";
import { Becoming } from "./becoming.ts";
import { Exemption } from "./exemption.ts";
import { becomeSubreaper, reap } from "./libc.ts";
import { type ProcessEntry, processTable, sendSignal } from "./process-table.ts";
import { isSelected, type Selection, type Territory } from "./selection.ts";
import { type Owner, ownerFromTags } from "./tags.ts";

/** When so many are remembered, those that have ended are forgotten. */
const metAtFirst = 1024;

export class Custody {
  #sessions = new Set<string>();
  #territories = new Map<string, Territory>();
  /** Children that whoever became this daemon by `exec` had before: none of ours. */
  readonly #foreign: Set<number>;
  /** For what the daemon starts for itself. */
  readonly exemption: Exemption;
  readonly #becoming = new Becoming();
  #roots = new Map<number, Owner>();
  #adopted: Map<number, Adopted>;
  #hasLeftSomething: Set<string>;
  #metDead = false;
  /** Processes met as somebody's descendants: if they lose their parents, it is known whose they are. */
  #met: Map<number, Adopted>;
  /** Twice as many as were alive when the ended ones were last removed, so that removing them takes linear time. */
  #metMax = metAtFirst;
  readonly pids = (): number[] => [...this.#roots.keys(), ...this.#adopted.keys()];

  /** Where orphans cannot be adopted (macOS), groups and tags must do. */
  constructor(
    readonly adoptsOrphans = becomeSubreaper(),
    before?: CustodyState,
  ) {
    this.exemption = new Exemption(before?.exempt);
    this.#foreign = new Set(before?.foreign ?? (adoptsOrphans ? processTable.childrenOf(process.pid) : []));
    this.#hasLeftSomething = new Set(before?.hasLeftSomething);
    this.#adopted = stillThere(before?.adopted ?? []);
    this.#met = stillThere(before?.met ?? []);
  }

  /** Sessions and roots come with those that they belong to. */
  pack(): CustodyState {
    return {
      exempt: this.exemption.env.TRL_EXEMPT,
      foreign: [...this.#foreign],
      hasLeftSomething: [...this.#hasLeftSomething],
      adopted: processesOf(this.#adopted),
      met: processesOf(this.#met),
    };
  }

  /** From now on the session's tag is believed; its territory, where it has one, above all else. */
  addSession(sessionId: string, territory?: Territory): void {
    this.#sessions.add(sessionId);
    if (territory) this.#territories.set(sessionId, territory);
  }

  removeSession(sessionId: string): void {
    this.#sessions.delete(sessionId);
    this.#territories.delete(sessionId);
    this.#hasLeftSomething.delete(sessionId);
  }

  addRoot(pid: number, owner: Owner): void {
    this.#roots.set(pid, owner);
  }

  /** Call when a root has ended: what it left behind is taken over at once, while its group is still known. */
  removeRoot(pid: number): void {
    const owner = this.#roots.get(pid);
    this.#adoptOrphans(owner);
    this.#roots.delete(pid);
  }

  get adoptedCount(): number {
    return this.#adopted.size;
  }

  /** Processes of a session that are neither a shell that waits nor the command that runs, nor what those started. */
  leftoversIn(sessionId: string): ProcessEntry[] {
    const own = new Set<number>();
    for (const [pid, owner] of this.#roots) if (owner.sessionId === sessionId) own.add(pid);
    const members = this.membersOf({ sessionId });
    const entries = new Map(members.map((entry) => [entry.pid, entry]));
    const isOfRoot = (entry: ProcessEntry | undefined): boolean =>
      entry !== undefined && (own.has(entry.pid) || isOfRoot(entries.get(entry.ppid)));
    return members.filter((entry) => !isOfRoot(entry));
  }

  /** All living processes of a session or command, roots included. */
  membersOf(selection: Selection): ProcessEntry[] {
    this.#adoptOrphans(undefined);
    return this.adoptsOrphans ? this.#membersByDescent(selection) : this.#membersByTag(selection);
  }

  /**
   * Whether nobody is left. A process that forks and ends all the time can slip through one look, but it leaves
   * dead ones behind: only a look that met none counts.
   */
  hasEnded(selection: Selection): boolean {
    const isNobodyThere = () => {
      this.#metDead = false;
      return this.membersOf(selection).length === 0 && !this.#metDead;
    };
    // A root that dies while one look goes on leaves its orphans where that look has already been.
    return isNobodyThere() && isNobodyThere();
  }

  /** What a command that has ended left running. Cheap where nothing was left. */
  leftoversOf(commandId: string, groupId: number): ProcessEntry[] {
    if (this.adoptsOrphans) return this.#adopted.size === 0 ? [] : this.#membersByDescent({ commandId });
    return sendSignal(-groupId, 0) ? this.#membersByTag({ commandId }) : [];
  }

  /** To be called now and then: takes over orphans, and takes the wait status of those that have ended. */
  tend(): void {
    this.#adoptOrphans(undefined);
  }

  #reapEnded(): void {
    for (const [pid, adopted] of this.#adopted) {
      const now = processTable.entry(pid);
      if (now?.startTime === adopted.entry.startTime && !now.isZombie) {
        if (!adopted.owner) this.#askAgain(adopted);
        continue;
      }
      if (now?.isZombie) reap(pid);
      this.#adopted.delete(pid);
      this.#metDead = true;
    }
  }

  /** In the middle of execve it could not say whose it is. */
  #askAgain(adopted: Adopted): void {
    const tagged = ownerFromTags(adopted.entry.pid);
    if (tagged && this.#sessions.has(tagged.sessionId)) {
      adopted.owner = tagged;
      this.#hasLeftSomething.add(tagged.sessionId);
    } else if (this.#becoming.covers(adopted.entry)) this.#metDead = true;
  }

  #adoptOrphans(justEnded: Owner | undefined): void {
    if (!this.adoptsOrphans) return;
    this.#reapEnded();
    for (const pid of processTable.childrenOf(process.pid)) {
      if (this.#roots.has(pid) || this.#adopted.has(pid) || this.#foreign.has(pid)) continue;
      const entry = processTable.entry(pid);
      if (entry && this.exemption.covers(entry)) continue;
      if (!entry || entry.isZombie) this.#metDead = true;
      if (entry?.isZombie) reap(pid);
      else if (entry) this.#adopt(entry, this.#ownerOf(entry, justEnded));
    }
  }

  #adopt(entry: ProcessEntry, owner: Owner | undefined): void {
    this.#adopted.set(entry.pid, { entry, owner });
    if (owner) this.#hasLeftSomething.add(owner.sessionId);
    else this.#metDead = true; // it is asked once more before any look counts
  }

  #ownerOf(entry: ProcessEntry, justEnded: Owner | undefined): Owner | undefined {
    for (const [sessionId, territory] of this.#territories) {
      if (territory().includes(entry.pid)) return this.#commandIn(sessionId, justEnded) ?? { sessionId };
    }
    const met = this.#met.get(entry.pid);
    if (met?.entry.startTime === entry.startTime) return met.owner;
    for (const related of [entry.sid, entry.pgid]) {
      const owner = this.#roots.get(related) ?? this.#adopted.get(related)?.owner;
      if (owner) return owner;
    }
    const tagged = ownerFromTags(entry.pid);
    // Anybody can set a variable: only what is known here is believed.
    if (!tagged || !this.#sessions.has(tagged.sessionId)) return this.#onlyCandidate(justEnded);
    return this.#isCommand(tagged.commandId)
      ? tagged
      : (this.#commandIn(tagged.sessionId, justEnded) ?? tagged);
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
   * For one that cleared its environment and left its group: it comes from a session that runs a command, or that
   * has left something behind before. With one such session it is clear whose it is.
   */
  #onlyCandidate(justEnded: Owner | undefined): Owner | undefined {
    const candidates = new Set(this.#hasLeftSomething);
    for (const owner of [...this.#roots.values(), justEnded])
      if (owner?.commandId) candidates.add(owner.sessionId);
    const [sessionId, another] = candidates;
    if (sessionId === undefined || another !== undefined) return undefined;
    return this.#commandIn(sessionId, justEnded) ?? { sessionId };
  }

  #membersByDescent(selection: Selection): ProcessEntry[] {
    const starts: [pid: number, owner: Owner | undefined][] = [];
    for (const [pid, owner] of this.#roots) if (isSelected(owner, selection)) starts.push([pid, owner]);
    for (const [pid, { owner }] of this.#adopted) if (isSelected(owner, selection)) starts.push([pid, owner]);
    const sessionId =
      typeof selection === "object" && "sessionId" in selection ? selection.sessionId : undefined;
    const territory = sessionId === undefined ? undefined : this.#territories.get(sessionId);
    for (const pid of territory?.() ?? []) starts.unshift([pid, { sessionId: sessionId! }]);
    const members = new Map<number, ProcessEntry>();
    for (let next = starts.pop(); next !== undefined; next = starts.pop()) {
      const [pid, owner] = next;
      if (members.has(pid)) continue;
      const entry = processTable.entry(pid);
      if (!entry || entry.isZombie) {
        if (!this.#roots.has(pid)) this.#metDead = true;
        continue;
      }
      members.set(pid, entry);
      for (const child of processTable.childrenOf(pid)) starts.push([child, owner]);
      if (owner) this.#meet(entry, owner);
    }
    return [...members.values()];
  }

  #meet(entry: ProcessEntry, owner: Owner): void {
    if (this.#met.size >= this.#metMax) {
      for (const [pid, { entry: known }] of this.#met) {
        if (processTable.entry(pid)?.startTime !== known.startTime) this.#met.delete(pid);
      }
      this.#metMax = Math.max(metAtFirst, this.#met.size * 2);
    }
    this.#met.set(entry.pid, { entry, owner });
  }

  /** "Everything" is everything of ours: the table lists everybody's. */
  #membersByTag(selection: Selection): ProcessEntry[] {
    const groups = new Map([...this.#roots].filter(([, owner]) => isSelected(owner, selection)));
    return processTable.list().filter((entry) => {
      if (entry.isZombie || entry.pid === process.pid) return false;
      if (groups.has(entry.pgid)) return true;
      const owner = ownerFromTags(entry.pid);
      return owner !== undefined && this.#sessions.has(owner.sessionId) && isSelected(owner, selection);
    });
  }
}
