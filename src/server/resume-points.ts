// Resume points: offsets in a command's output, kept for clients after their connection broke. Until the client attaches
// again, or the point expires, the command waits for it as it would for a slow client (backpressure).
import type { KnownCommand } from "../core/command/command.ts";
import type { Offsets, OutputReader } from "../core/command/output.ts";
import type { CommandStore } from "../core/command/store.ts";
import type { ResumePointState } from "../upgrade/schema/document.ts";
import { resumePointSecondsMax } from "./limits.ts";

interface ResumePoint {
  reader: OutputReader;
  timer: Timer;
  expiresAt: number;
}

interface KeyedAttachment {
  end(): void;
}

/** Marks the points of clients without a resume key. */
const unkeyedPrefix = "next ";
/** A client without a key that does not reconnect this soon does not want the output. */
const unkeyedSeconds = 10;

export class ResumePoints {
  readonly #points = new Map<KnownCommand, Map<string, ResumePoint>>();
  /** Live attachments with a resume key. */
  readonly #attached = new Map<KnownCommand, Map<string, KeyedAttachment>>();

  /** Expires like a stalled client does, but after a bounded time even without a stall timeout. */
  keep(command: KnownCommand, key: string, reader: OutputReader, stallTimeoutS: number): void {
    this.release(command, key);
    const max = resumePointSecondsMax;
    const seconds = stallTimeoutS === 0 ? max : Math.min(stallTimeoutS, max);
    const timer = setTimeout(() => this.release(command, key), seconds * 1000);
    timer.unref();
    const point = { reader, timer, expiresAt: performance.now() + seconds * 1000 };
    entriesOf(this.#points, command).set(key, point);
  }

  /** For a client without a key that the daemon itself disconnects, and that is expected to attach again. */
  keepUnkeyed(command: KnownCommand, { stdout, stderr }: Offsets): void {
    const { output } = command;
    if (output.isComplete) return;
    const from = { stdout: output.stdout.firstFrom(stdout), stderr: output.stderr.firstFrom(stderr) };
    const reader = output.openReader(from, () => {});
    this.keep(command, `${unkeyedPrefix}${crypto.randomUUID()}`, reader, unkeyedSeconds);
  }

  /** An attachment from these offsets may be a client without a key that has reconnected. */
  releaseUnkeyed(command: KnownCommand, from: Offsets): void {
    for (const [key, { reader }] of this.#points.get(command) ?? []) {
      const isBefore = reader.offsets.stdout <= from.stdout && reader.offsets.stderr <= from.stderr;
      if (!key.startsWith(unkeyedPrefix) || !isBefore) continue;
      this.release(command, key);
      return;
    }
  }

  /** The new attachment replaces the point of this key, and an attachment on a connection that the client gave up. */
  attach(command: KnownCommand, key: string, attachment: KeyedAttachment): void {
    this.release(command, key);
    const attached = entriesOf(this.#attached, command);
    const before = attached.get(key);
    attached.set(key, attachment);
    before?.end();
  }

  detach(command: KnownCommand, key: string, attachment: KeyedAttachment): void {
    if (this.#attached.get(command)?.get(key) === attachment) removeEntry(this.#attached, command, key);
  }

  release(command: KnownCommand, key: string): void {
    const point = this.#points.get(command)?.get(key);
    if (!point) return;
    removeEntry(this.#points, command, key);
    clearTimeout(point.timer);
    point.reader.close();
  }

  pack(commands: CommandStore): ResumePointState[] {
    const now = performance.now();
    return commands.list().flatMap(({ command }) =>
      [...(this.#points.get(command) ?? [])].map(([key, { reader, expiresAt }]) => ({
        commandId: command.id,
        key,
        offsets: { ...reader.offsets },
        leftMs: expiresAt - now,
      })),
    );
  }

  /** After an upgrade; the clients are about to reconnect. */
  restore(commands: CommandStore, points: ResumePointState[]): void {
    for (const { commandId, key, offsets, leftMs } of points) {
      const { command } = commands.get(commandId);
      const reader = command.output.openReader(offsets, () => {});
      this.keep(command, key, reader, Math.max(leftMs / 1000, 1));
    }
  }
}

function entriesOf<T>(all: Map<KnownCommand, Map<string, T>>, command: KnownCommand): Map<string, T> {
  const entries = all.get(command) ?? new Map<string, T>();
  all.set(command, entries);
  return entries;
}

/** A command without entries is forgotten, so that it can be collected. */
function removeEntry<T>(all: Map<KnownCommand, Map<string, T>>, command: KnownCommand, key: string): void {
  const entries = all.get(command);
  entries?.delete(key);
  if (entries?.size === 0) all.delete(command);
}
