// A socket in front of a daemon's socket, whose connections can be cut, or fall silent.
import { createConnection, createServer, type Socket } from "node:net";

export interface Cuttable extends AsyncDisposable {
  path: string;
  /** How many connections are open now, and how many were made. */
  readonly open: number;
  readonly total: number;
  /** Bytes that have come from the daemon. */
  readonly bytes: number;
  cut(): void;
  /** Who comes is cut off at once, as by a network that is down, until `reopen`. */
  shut(): void;
  reopen(): void;
  /** From now on a connection on which this is said is cut. */
  cutAt(words: string): void;
  /** Nothing passes any more, and nobody is told. */
  fallSilent(): void;
  /** Requests pass, and what is answered does not. */
  swallowReplies(): void;
}

export async function cuttable(target: string): Promise<Cuttable> {
  const path = `${target}.front`;
  const pairs = new Set<[Socket, Socket]>();
  let total = 0;
  let bytes = 0;
  let isSilent = false;
  let isSwallowing = false;
  let isShut = false;
  let fatal: string | undefined;
  const pair = (client: Socket) => {
    if (isShut) return void client.destroy();
    const daemon = createConnection(target);
    const both: [Socket, Socket] = [client, daemon];
    pairs.add(both);
    total++;
    const end = () => {
      pairs.delete(both);
      client.destroy();
      daemon.destroy();
    };
    for (const socket of both) socket.on("close", end).on("error", end);
    client.on("data", (chunk) => {
      if (fatal !== undefined && chunk.includes(fatal)) end();
      else if (!isSilent) daemon.write(chunk);
    });
    daemon.on("data", (chunk) => {
      bytes += chunk.length;
      if (!isSilent && !isSwallowing && !client.write(chunk)) {
        daemon.pause();
        client.once("drain", () => daemon.resume());
      }
    });
  };
  const cut = () => {
    isSwallowing = false;
    for (const both of pairs) for (const socket of both) socket.destroy();
  };
  const server = createServer(pair);
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    path,
    get open() {
      return pairs.size;
    },
    get total() {
      return total;
    },
    get bytes() {
      return bytes;
    },
    cut,
    shut() {
      isShut = true;
      cut();
    },
    reopen() {
      isShut = false;
    },
    cutAt(words) {
      fatal = words;
    },
    fallSilent() {
      isSilent = true;
    },
    swallowReplies() {
      isSwallowing = true;
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      cut();
      await closed;
    },
  };
}
