// The window: one terminal of the daemon's in xterm.js. It is there again in every window, and after the app was closed.
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import { Electroview } from "electrobun/view";
import { attachXterm, connect, type Trl } from "trl/client";
import { type BridgeMessage, carrierOver } from "../shared/bridge.ts";
import type { TerminalRPC } from "../shared/rpc.ts";

let receive = (_message: BridgeMessage) => {};
const rpc = Electroview.defineRPC<TerminalRPC>({
  handlers: { messages: { fromDaemon: (message) => receive(message) } },
});
new Electroview({ rpc });
const open = carrierOver({
  send: (message) => rpc.send.toDaemon(message),
  onMessage: (listener) => {
    receive = listener;
  },
});

const xterm = new Terminal({
  cursorBlink: true,
  fontFamily: "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace",
  fontSize: 14,
  scrollback: 5000,
  theme: { background: "#11141a", foreground: "#c9d1d9", cursor: "#57c785", selectionBackground: "#34405a" },
});
const fit = new FitAddon();
const screen = document.getElementById("screen")!;
xterm.loadAddon(fit);
xterm.open(screen);
new ResizeObserver(() => fit.fit()).observe(screen);
fit.fit();
xterm.focus();

let trl: Trl | undefined;
await start();

async function start(): Promise<void> {
  xterm.reset();
  try {
    trl ??= await connectToDaemon();
    const { cols, rows } = xterm;
    const terminal = await trl.terminal({ sessionId: "desk", reuse: true, cols, rows });
    attachXterm(terminal, xterm, {
      onExit: ({ exitCode, signal }) =>
        over(signal ? `ended by ${signal}` : `ended with exit code ${exitCode}`),
      onError: (error, { isOver }) => (isOver ? over(error.message) : console.warn(error)),
    });
  } catch (error) {
    over((error as Error).message);
  }
}

async function connectToDaemon(): Promise<Trl> {
  const connected = await connect({ open }, { patienceS: Number.POSITIVE_INFINITY });
  const shown = document.getElementById("state")!;
  connected.onState((state) => {
    shown.textContent = state;
    shown.hidden = state === "connected";
  });
  return connected;
}

function over(message: string): void {
  xterm.write(`\r\n\x1b[0;2m[${message}: press Enter to start again]\x1b[0m`);
  const keys = xterm.onKey(({ key }) => {
    if (key !== "\r") return;
    keys.dispose();
    void start();
  });
}
