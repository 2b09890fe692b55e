// Stands between a client and a daemon, and can do what networks do: lose replies, cut, be away, be mute.
import { rmSync } from "node:fs";
import { createConnection, createServer, type NetConnectOpts, type Server, type Socket } from "node:net";
import type { Target } from "trl/client";

type Way = { socket: string; via: string } | { url: string; token: string };

export class CuttableLine {
  readonly #pairs = new Set<[Socket, Socket]>();
  readonly #server: Server;
  target!: Target;
  /** Who comes is let in and thrown out at once. */
  isAway = false;
  /** What the daemon says does not arrive. */
  isSwallowing = false;
  /** How often somebody came. */
  visits = 0;
  bytesDown = 0;
  /** Called with what comes from the daemon, before it is passed on. */
  onData: () => void = () => {};

  private constructor(readonly to: NetConnectOpts) {
    this.#server = createServer((client) => this.#take(client));
  }

  static async open(way: Way): Promise<CuttableLine> {
    if ("socket" in way) {
      const proxy = new CuttableLine({ path: way.socket });
      rmSync(way.via, { force: true });
      await new Promise<void>((resolve) => proxy.#server.listen(way.via, resolve));
      proxy.target = { socket: way.via };
      return proxy;
    }
    const { hostname, port } = new URL(way.url);
    const proxy = new CuttableLine({ host: hostname, port: Number(port) });
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    const { port: own } = proxy.#server.address() as { port: number };
    proxy.target = { url: `http://127.0.0.1:${own}`, token: way.token };
    return proxy;
  }

  cut(): void {
    for (const pair of [...this.#pairs]) for (const end of pair) end.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #take(client: Socket): void {
    this.visits++;
    client.on("error", () => {});
    if (this.isAway) {
      client.destroy();
      return;
    }
    const daemon = createConnection(this.to);
    daemon.on("error", () => {});
    const pair: [Socket, Socket] = [client, daemon];
    this.#pairs.add(pair);
    const end = () => {
      this.#pairs.delete(pair);
      client.destroy();
      daemon.destroy();
    };
    client.on("close", end);
    daemon.on("close", end);
    client.on("data", (chunk) => void daemon.write(chunk));
    daemon.on("data", (chunk) => {
      this.bytesDown += chunk.length;
      this.onData();
      if (this.isSwallowing || client.destroyed) return;
      if (client.write(chunk)) return;
      daemon.pause();
      client.once("drain", () => daemon.resume());
    });
  }
}
