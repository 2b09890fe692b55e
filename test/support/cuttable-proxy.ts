// A way to a port that can be cut, as a network is, and mended again.
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface CuttableProxy extends AsyncDisposable {
  url: string;
  /** Where it leads to. */
  to(port: number): void;
  /** Whatever goes through is broken off; whoever comes is turned away. */
  cut(): void;
  mend(): void;
}

export async function cuttableProxy(): Promise<CuttableProxy> {
  const sockets = new Set<Socket>();
  let target: number | undefined;
  let isCut = false;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  };
  const server = createServer((socket) => {
    if (isCut || target === undefined) return void socket.destroy();
    const upstream = connect(target, "127.0.0.1");
    keep(socket);
    keep(upstream);
    socket.pipe(upstream).pipe(socket);
    upstream.on("close", () => socket.destroy());
    socket.on("close", () => upstream.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const breakOff = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    to: (port) => {
      target = port;
    },
    cut: () => {
      isCut = true;
      breakOff();
    },
    mend: () => {
      isCut = false;
    },
    async [Symbol.asyncDispose]() {
      breakOff();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
