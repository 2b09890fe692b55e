// Stands in for `electrobun/bun`: windows that a test looks into instead of a person.
import { type Config, defineRpc, type Packet, type Rpc, type Schema } from "./rpc.ts";

export const BrowserView = {
  defineRPC: <S extends Schema>(config: Config<S["bun"]>) => defineRpc<S["bun"], S["webview"]>(config),
};

interface WindowOptions {
  title: string;
  url: string;
  frame: { x: number; y: number; width: number; height: number };
  rpc: Pick<Rpc<Schema["webview"]>, "setTransport">;
}

/** All that were opened, the last one at the end. */
export const windows: BrowserWindow[] = [];

export class BrowserWindow {
  /** Where what is said to the page goes. */
  toPage: (packet: Packet) => void = () => {};
  /** What the page says. */
  fromPage: (packet: Packet) => void = () => {};
  readonly #listeners: (() => void)[] = [];

  constructor(readonly options: WindowOptions) {
    options.rpc.setTransport({
      send: (packet) => this.toPage(packet),
      registerHandler: (handler) => {
        this.fromPage = handler;
      },
    });
    windows.push(this);
  }

  on(name: "close", listener: () => void): void {
    if (name === "close") this.#listeners.push(listener);
  }

  /** As when a person closes it. */
  close(): void {
    for (const listener of this.#listeners) listener();
  }
}
