// The page: one terminal of the daemon's in xterm.js. It is there again after a reload, in every tab that shows it, and
// after a lost connection.
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";
import { attachXterm, connect, type Trl } from "trl/client";

const sessionId = "desk";

const element = (id: string) => document.getElementById(id)!;
const xterm = new Terminal({
  cursorBlink: true,
  fontFamily: "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace",
  fontSize: 14,
  scrollback: 5000,
  theme: { background: "#11141a", foreground: "#c9d1d9", cursor: "#57c785", selectionBackground: "#34405a" },
});
const fit = new FitAddon();
xterm.loadAddon(fit);
xterm.open(element("screen"));
xterm.onResize(({ cols, rows }) => {
  element("size").textContent = `${cols} × ${rows}`;
});
xterm.onTitleChange((title) => {
  element("title").textContent = document.title = title || sessionId;
});
new ResizeObserver(() => fit.fit()).observe(element("screen"));
fit.fit();
xterm.focus();

let trl: Trl | undefined;
await start();

async function start(): Promise<void> {
  xterm.reset();
  try {
    trl ??= await connectToDaemon();
    const { cols, rows } = xterm;
    const terminal = await trl.terminal({ sessionId, reuse: true, cols, rows });
    attachXterm(terminal, xterm, {
      onExit: ({ exitCode, signal }) =>
        over(signal ? `ended by ${signal}` : `ended with exit code ${exitCode}`),
      onError: (error, { isOver }) => (isOver ? over(error.message) : console.warn(error)),
    });
    show("connected");
  } catch (error) {
    over((error as Error).message);
  }
}

async function connectToDaemon(): Promise<Trl> {
  const { url } = await ask("/daemon");
  // Each connection has a ticket of its own. As long as the page is open, a lost connection is opened again.
  const ticket = async () => (await ask("/ticket"))["ticket"]!;
  const connected = await connect({ url: url!, ticket }, { patienceS: Number.POSITIVE_INFINITY });
  connected.onState(show);
  return connected;
}

/** Asks the page's own server, which knows us by the key in the address. */
async function ask(path: string): Promise<Record<string, string>> {
  const authorization = `Bearer ${location.hash.slice(1)}`;
  const response = await fetch(path, { method: "POST", headers: { authorization } });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

function over(message: string): void {
  show("ended");
  xterm.write(`\r\n\x1b[0;2m[${message}: press Enter to start again]\x1b[0m`);
  const keys = xterm.onKey(({ key }) => {
    if (key !== "\r") return;
    keys.dispose();
    void start();
  });
}

function show(state: string): void {
  element("state").textContent = element("state").dataset["state"] = state;
}
