// Stands in for `electrobun/view`, in the page: packets go through two functions that the test puts there.
import { type Config, defineRpc, type Packet, type Rpc, type Schema } from "./rpc.ts";

export type { RPCSchema } from "./rpc.ts";

interface Bridge {
  toMain(packet: Packet): void;
  fromMain(packet: Packet): void;
}

export class Electroview {
  static defineRPC = <S extends Schema>(config: Config<S["webview"]>) =>
    defineRpc<S["webview"], S["bun"]>(config);

  constructor({ rpc }: { rpc: Pick<Rpc<Schema["bun"]>, "setTransport"> }) {
    const bridge = globalThis as unknown as Bridge;
    rpc.setTransport({
      send: (packet) => bridge.toMain(packet),
      registerHandler: (handler) => {
        bridge.fromMain = handler;
      },
    });
  }
}
