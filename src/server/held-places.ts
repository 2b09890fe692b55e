// Places in a command's output that are kept for clients whose connection broke: until they come back with their key,
// the command waits for them, as it would for one who is slow.
import type { Command } from "../core/exec/command.ts";
import type { OutputReader } from "../core/exec/command-output.ts";
import { heldPlaceSecondsMax } from "./limits.ts";

interface Held {
  reader: OutputReader;
  timer: Timer;
}

const places = new WeakMap<Command, Map<string, Held>>();

/** For as long as for a client that takes nothing, but not for ever: nobody may come. */
export function hold(command: Command, key: string, reader: OutputReader, stallTimeoutS: number): void {
  release(command, key);
  const own = places.get(command) ?? new Map<string, Held>();
  places.set(command, own);
  const seconds = stallTimeoutS === 0 ? heldPlaceSecondsMax : Math.min(stallTimeoutS, heldPlaceSecondsMax);
  const timer = setTimeout(() => release(command, key), seconds * 1000);
  timer.unref();
  own.set(key, { reader, timer });
}

interface Follower {
  end(): void;
}

const followers = new WeakMap<Command, Map<string, Follower>>();

/** Who comes with the key is the same client: what it had on a connection that it has given up is over. */
export function takeOver(command: Command, key: string, follower: Follower): void {
  release(command, key);
  const own = followers.get(command) ?? new Map<string, Follower>();
  followers.set(command, own);
  const before = own.get(key);
  own.set(key, follower);
  before?.end();
}

export function leave(command: Command, key: string, follower: Follower): void {
  const own = followers.get(command);
  if (own?.get(key) === follower) own.delete(key);
}

/** Somebody has come with the key, and has a place of their own. */
function release(command: Command, key: string): void {
  const held = places.get(command)?.get(key);
  if (!held) return;
  places.get(command)?.delete(key);
  clearTimeout(held.timer);
  held.reader.close();
}
