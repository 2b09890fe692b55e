// A socket, with what is written kept until it is taken.
import type { Carrier } from "./carrier.ts";

type Address = { unix: string } | { hostname: string; port: number };

export interface ByteEvents {
  data(chunk: Uint8Array): void;
  closed(): void;
}

export class ByteSocket implements Carrier {
  #socket!: Bun.Socket;
  #pending: Uint8Array[] = [];
  #isEnding = false;

  static async open(address: Address, events: ByteEvents): Promise<ByteSocket> {
    const own = new ByteSocket();
    const socket = {
      data: (_: unknown, chunk: Uint8Array) => events.data(chunk),
      drain: () => own.#flush(),
      end: () => events.closed(),
      close: () => events.closed(),
      error() {},
    };
    own.#socket = await ("unix" in address
      ? Bun.connect({ unix: address.unix, allowHalfOpen: true, socket })
      : Bun.connect({ hostname: address.hostname, port: address.port, allowHalfOpen: true, socket }));
    return own;
  }

  send(bytes: Uint8Array): void {
    this.#pending.push(bytes);
    this.#flush();
  }

  endInput(): void {
    this.#isEnding = true;
    this.#flush();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #flush(): void {
    for (let head = this.#pending[0]; head; head = this.#pending[0]) {
      const written = Math.max(0, this.#socket.write(head));
      if (written < head.length) {
        this.#pending[0] = head.subarray(written);
        return;
      }
      this.#pending.shift();
    }
    if (this.#isEnding) this.#socket.shutdown();
  }
}
