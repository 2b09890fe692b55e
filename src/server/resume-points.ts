// Places in a command's output that are kept for clients whose connection broke: until they come back with their key,
// the command waits for them, as it would for one who is slow.
import type { KnownCommand } from "../core/command/command.ts";
import type { Offsets, OutputReader } from "../core/command/output.ts";
import type { CommandStore } from "../core/command/store.ts";
import type { ResumePointState } from "../upgrade/schema/document.ts";
import { heldPlaceSecondsMax } from "./limits.ts";

interface Held {
  reader: OutputReader;
  timer: Timer;
  until: number;
}

const places = new WeakMap<KnownCommand, Map<string, Held>>();

/** For as long as for a client that takes nothing, but not for ever: nobody may come. */
export function hold(command: KnownCommand, key: string, reader: OutputReader, stallTimeoutS: number): void {
  release(command, key);
  const own = places.get(command) ?? new Map<string, Held>();
  places.set(command, own);
  const seconds = stallTimeoutS === 0 ? heldPlaceSecondsMax : Math.min(stallTimeoutS, heldPlaceSecondsMax);
  const timer = setTimeout(() => release(command, key), seconds * 1000);
  timer.unref();
  own.set(key, { reader, timer, until: performance.now() + seconds * 1000 });
}

/** For one who will come back without a key, after we have cut its connection ourselves. */
export function holdForNext(command: KnownCommand, { stdout, stderr }: Offsets): void {
  const { output } = command;
  if (output.isComplete) return;
  const from = { stdout: output.stdout.firstFrom(stdout), stderr: output.stderr.firstFrom(stderr) };
  hold(
    command,
    `${nextPrefix}${crypto.randomUUID()}`,
    output.openReader(from, () => {}),
    nextSeconds,
  );
}

/** Somebody has come who may be that one. */
export function releaseForNext(command: KnownCommand, from: Offsets): void {
  for (const [key, { reader }] of places.get(command) ?? []) {
    const isBehind = reader.offsets.stdout <= from.stdout && reader.offsets.stderr <= from.stderr;
    if (!key.startsWith(nextPrefix) || !isBehind) continue;
    release(command, key);
    return;
  }
}

const nextPrefix = "next ";
/** Who does not come so soon was not waiting for it. */
const nextSeconds = 10;

export function packResumePoints(commands: CommandStore): ResumePointState[] {
  const now = performance.now();
  return commands.list().flatMap(({ command }) =>
    [...(places.get(command) ?? [])].map(([key, { reader, until }]) => ({
      commandId: command.id,
      key,
      offsets: { ...reader.offsets },
      leftMs: until - now,
    })),
  );
}

/** Those whose clients are about to come to us instead. */
export function holdAgain(commands: CommandStore, held: ResumePointState[]): void {
  for (const { commandId, key, offsets, leftMs } of held) {
    const { command } = commands.get(commandId);
    const reader = command.output.openReader(offsets, () => {});
    hold(command, key, reader, Math.max(leftMs / 1000, 1));
  }
}

interface Follower {
  end(): void;
}

const followers = new WeakMap<KnownCommand, Map<string, Follower>>();

/** Who comes with the key is the same client: what it had on a connection that it has given up is over. */
export function takeOver(command: KnownCommand, key: string, follower: Follower): void {
  release(command, key);
  const own = followers.get(command) ?? new Map<string, Follower>();
  followers.set(command, own);
  const before = own.get(key);
  own.set(key, follower);
  before?.end();
}

export function leave(command: KnownCommand, key: string, follower: Follower): void {
  const own = followers.get(command);
  if (own?.get(key) === follower) own.delete(key);
}

/** Somebody has come with the key, and has a place of their own. */
export function release(command: KnownCommand, key: string): void {
  const held = places.get(command)?.get(key);
  if (!held) return;
  places.get(command)?.delete(key);
  clearTimeout(held.timer);
  held.reader.close();
}
