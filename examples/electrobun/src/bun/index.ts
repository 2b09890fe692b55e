// The main process: a window, and its way to the daemon. Each window has a connection of its own, which ends with it.
import { BrowserView, BrowserWindow } from "electrobun/bun";
import { type BridgeMessage, serveWindow } from "../shared/bridge.ts";
import type { TerminalRPC } from "../shared/rpc.ts";
import { daemonCarrier } from "./daemon.ts";

export function openWindow(): void {
  let receive = (_message: BridgeMessage) => {};
  const rpc = BrowserView.defineRPC<TerminalRPC>({
    handlers: { messages: { toDaemon: (message) => receive(message) } },
  });
  const end = serveWindow(
    {
      send: (message) => rpc.send.fromDaemon(message),
      onMessage: (listener) => {
        receive = listener;
      },
    },
    daemonCarrier,
  );
  const window = new BrowserWindow({
    title: "desk",
    url: "views://mainview/index.html",
    frame: { x: 120, y: 120, width: 900, height: 540 },
    rpc,
  });
  window.on("close", end);
}

openWindow();
