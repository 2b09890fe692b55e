// Frames between a window and the daemon, over whatever messages a shell has between its windows and its main process.
// Knows nothing of Electrobun: anything with `send` and `onMessage` on both sides (Tauri, Electron, a worker) can use it.
import type { Carrier, OpenCarrier } from "trl/client";

/** `link` tells a page from the one before its reload, `n` what comes next: messages may overtake each other. */
export type BridgeMessage = { link: string; n: number } & BridgeContent;

type BridgeContent =
  | { kind: "open" }
  | { kind: "opened" }
  | { kind: "frame"; frame: string }
  | { kind: "closed"; reason: string };

export interface Port {
  send(message: BridgeMessage): void;
  /** The last listener gets all that comes. */
  onMessage(listener: (message: BridgeMessage) => void): void;
}

/** In the window: what `connect({ open })` takes. */
export function carrierOver(port: Port): OpenCarrier {
  return ({ message, closed }) =>
    new Promise<Carrier>((resolve, reject) => {
      const link = crypto.getRandomValues(new Uint32Array(2)).join("-");
      const send = sender(port, link);
      let isOpen = false;
      const take = inOrder((content) => {
        if (content.kind === "frame") message(content.frame);
        if (content.kind === "closed") (isOpen ? closed : reject)(new Error(content.reason));
        if (content.kind !== "opened") return;
        isOpen = true;
        resolve({
          send: (frame) => send({ kind: "frame", frame }),
          close: () => send({ kind: "closed", reason: "the window let go" }),
        });
      });
      port.onMessage((it) => {
        if (it.link === link) take(it);
      });
      send({ kind: "open" });
    });
}

/** In the main process: a way to the daemon for one window at a time. Gives a function that ends it with the window. */
export function serveWindow(port: Port, open: OpenCarrier): () => void {
  let current: { link: string; take(message: BridgeMessage): void; close(): void } | undefined;
  port.onMessage((message) => {
    if (message.kind === "open") {
      current?.close(); // of the page before the reload, which said no farewell
      current = { link: message.link, ...serveLink(sender(port, message.link), open) };
    }
    if (message.link === current?.link) current.take(message);
  });
  return () => current?.close();
}

function serveLink(send: (content: BridgeContent) => void, open: OpenCarrier) {
  const carrier = (async () =>
    await open({
      message: (frame) => send({ kind: "frame", frame }),
      closed: (error) => send({ kind: "closed", reason: error.message }),
    }))();
  carrier.then(
    () => send({ kind: "opened" }),
    (error: Error) => send({ kind: "closed", reason: error.message }),
  );
  const close = () => void carrier.then((it) => it.close()).catch(() => {});
  const take = inOrder((content) => {
    if (content.kind === "frame") void carrier.then((it) => it.send(content.frame));
    if (content.kind === "closed") close();
  });
  return { take, close };
}

function sender(port: Port, link: string): (content: BridgeContent) => void {
  let n = 0;
  return (content) => port.send({ link, n: n++, ...content });
}

/** Electrobun encrypts each message for itself and sends it when that is done: a short one may overtake a long one. */
function inOrder(deliver: (message: BridgeMessage) => void): (message: BridgeMessage) => void {
  const early = new Map<number, BridgeMessage>();
  let next = 0;
  return (message) => {
    early.set(message.n, message);
    for (let it = early.get(next); it; it = early.get(next)) {
      early.delete(next++);
      deliver(it);
    }
  };
}
