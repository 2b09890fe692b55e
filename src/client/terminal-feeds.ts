// The terminals that this client watches. All watchers of one terminal share one subscription.
import type { Host } from "./host.ts";
import { TerminalFeed, type TerminalWatcher, type WatchOptions } from "./terminal-feed.ts";

interface Size {
  cols: number;
  rows: number;
}

export class TerminalFeeds {
  readonly #feeds = new Map<string, TerminalFeed>();

  constructor(readonly host: Host) {}

  /** Returns a function that ends it. `size` is that of the watcher's window, if it has one. */
  watch(id: string, watcher: TerminalWatcher, options: WatchOptions, size: Size | undefined): () => void {
    const feed = this.#feeds.get(id) ?? new TerminalFeed(this.host, id, () => this.#feeds.delete(id));
    this.#feeds.set(id, feed);
    feed.size = size ?? feed.size;
    return feed.watch(watcher, options);
  }

  /** The feed sends the size again on the next connection. */
  setSize(id: string, size: Size): void {
    const feed = this.#feeds.get(id);
    if (feed) feed.size = size;
  }

  /** Reports the terminal's actual size, if it is not the requested one. */
  notifySize(id: string, size: Size): void {
    this.#feeds.get(id)?.notifySize(size);
  }
}
