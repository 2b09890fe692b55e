// Stands in for Electrobun's messages between a window and its main process: the same calls, the same packets, and no
// promise about their order, as there.

interface SideSchema {
  messages: object;
}

export type RPCSchema<Side extends SideSchema> = Side;

export interface Schema {
  bun: SideSchema;
  webview: SideSchema;
}

export interface Packet {
  type: "message";
  id: string;
  payload: unknown;
}

export interface Transport {
  send(packet: Packet): void;
  registerHandler(handler: (packet: Packet) => void): void;
}

type Heard<Messages> = { [Name in keyof Messages]?: (payload: Messages[Name]) => void };
type Said<Messages> = { [Name in keyof Messages]: (payload: Messages[Name]) => void };

export interface Config<Own extends SideSchema> {
  handlers: { messages?: Heard<Own["messages"]> };
}

export interface Rpc<Other extends SideSchema> {
  send: Said<Other["messages"]>;
  setTransport(transport: Transport): void;
}

export function defineRpc<Own extends SideSchema, Other extends SideSchema>({
  handlers,
}: Config<Own>): Rpc<Other> {
  const heard = (handlers.messages ?? {}) as Record<string, (payload: unknown) => void>;
  let transport: Transport | undefined;
  const send = (id: string, payload: unknown) => {
    if (!transport) throw new Error("no transport: the window is not there yet");
    transport.send({ type: "message", id, payload });
  };
  return {
    send: new Proxy({}, { get: (_, id) => (payload: unknown) => send(String(id), payload) }) as Said<
      Other["messages"]
    >,
    setTransport(given) {
      transport = given;
      given.registerHandler(({ id, payload }) => heard[id]?.(payload));
    },
  };
}
