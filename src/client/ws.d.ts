// The part of `ws` that the client uses in engines without a WebSocket.
declare module "ws" {
  export const WebSocket: new (url: string) => globalThis.WebSocket;
}
