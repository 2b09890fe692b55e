// What is used of `ws`, which stands in where the engine has no WebSocket.
declare module "ws" {
  export const WebSocket: new (url: string) => globalThis.WebSocket;
}
