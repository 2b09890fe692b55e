// The terminals that this client watches: all who watch one of them share one subscription.
import type { Host } from "./host.ts";
import { TerminalFeed, type TerminalWatcher, type WatchOptions } from "./terminal-feed.ts";

interface Size {
  cols: number;
  rows: number;
}

export class TerminalFeeds {
  readonly #feeds = new Map<string, TerminalFeed>();

  constructor(readonly host: Host) {}

  /** Gives a function that ends it. `size` is that of the watcher's window, where it has one. */
  watch(id: string, watcher: TerminalWatcher, options: WatchOptions, size: Size | undefined): () => void {
    const feed = this.#feeds.get(id) ?? new TerminalFeed(this.host, id, () => this.#feeds.delete(id));
    this.#feeds.set(id, feed);
    feed.size = size ?? feed.size;
    return feed.watch(watcher, options);
  }

  /** Said again on the next connection. */
  resized(id: string, size: Size): void {
    const feed = this.#feeds.get(id);
    if (feed) feed.size = size;
  }

  /** What holds, where that is not what was asked for. */
  tellSize(id: string, size: Size): void {
    this.#feeds.get(id)?.tellSize(size);
  }
}
