// examples/electrobun without Electrobun's own runtime: its main process under Bun and its view in real Chromium, each
// with a stand-in for Electrobun's messages, and between them and the shell everything that is there in the real thing.
import { expect } from "bun:test";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { connect } from "../../src/client/connect.ts";
import type { Trl } from "../../src/client/trl.ts";
import {
  complaintsOf,
  launchBrowser,
  rowsOf,
  screenOf,
  seenWithinMs,
  sees,
  seesRows,
} from "../support/browser.ts";
import { type BrowserWindow, windows } from "../support/electrobun/bun.ts";
import { installExample, type Project } from "../support/electrobun/project.ts";
import type { Packet } from "../support/electrobun/rpc.ts";
import { needs } from "../support/needs.ts";
import { isAlive } from "../support/processes.ts";
import { binary } from "../support/program.ts";
import { tempDir } from "../support/temp-dir.ts";
import { until } from "../support/wait.ts";

const { afterAll, beforeAll, test } = needs("chromium");

const address = "http://mainview.example/";
const dir = tempDir();
const socketPath = join(dir.path, "trl.sock");
/** Of the main process, which hands it to the daemon: nobody's startup files. */
const environment = { TRL_SOCKET_PATH: socketPath, TRL_ALLOW_ROOT: "true", HOME: dir.path };
const before = { ...process.env };

let browser: Browser;
let project: Project;
let view: Map<string, Blob>;
let main: { openWindow(): void };
/** To the daemon that the main process has started. */
let trl: Trl | undefined;

beforeAll(async () => {
  Object.assign(process.env, environment);
  browser = await launchBrowser();
  project = await installExample();
  view = await project.buildView();
  main = await project.startMain();
});

afterAll(async () => {
  await browser?.close();
  for (const window of windows) window.close();
  if (trl) await endDaemon(trl);
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
  project?.[Symbol.dispose]();
  dir[Symbol.dispose]();
});

/** What the app has started stays when the app is closed. */
async function endDaemon(client: Trl): Promise<number> {
  const { pid } = await client.call("system.stats");
  await client.close();
  process.kill(pid, "SIGTERM");
  await until("the end of the daemon", () => !isAlive(pid));
  return pid;
}

/** Shows a window of the main process in Chromium. Packets take their time, each its own, and overtake each other. */
async function show(window: BrowserWindow): Promise<Page> {
  const page = await browser.newPage({ viewport: window.options.frame });
  const sometime = (deliver: () => void) => void setTimeout(deliver, Math.random() * 8);
  await page.exposeFunction("toMain", (packet: Packet) => sometime(() => window.fromPage(packet)));
  window.toPage = (packet) =>
    sometime(() => {
      if (!page.isClosed()) void page.evaluate(`fromMain(${JSON.stringify(packet)})`).catch(() => {});
    });
  await page.route(`${address}**`, async (route) => {
    const name = new URL(route.request().url()).pathname.slice(1);
    const file = view.get(name);
    if (!file) return await route.abort();
    const body = Buffer.from(await file.arrayBuffer());
    await route.fulfill({ body, contentType: Bun.file(name).type });
  });
  await page.goto(`${address}index.html`);
  return page;
}

const newWindow = (): BrowserWindow => {
  main.openWindow();
  return windows.at(-1)!;
};

const prompt = /[$#]$/;
const run = async (page: Page, command: string) => {
  await page.keyboard.type(command);
  await page.keyboard.press("Enter");
};

test("without trl the window says what is missing", async () => {
  delete process.env["TRL_BINARY"];
  const path = process.env["PATH"];
  process.env["PATH"] = "/nowhere";
  const page = await show(windows[0]!);
  await sees(
    page,
    "[trl is not on the PATH: install it, or set TRL_BINARY to the executable: press Enter to",
  );
  process.env["PATH"] = path;
  process.env["TRL_BINARY"] = binary;
  await page.keyboard.press("Enter");
  await sees(page, prompt); // the main process has started the daemon
  await page.close();
  trl = await connect(socketPath);
  expect((await trl.call("pty.list")).sessions.map(({ session_id }) => session_id)).toEqual(["desk"]);
});

test("types and sees, through view, main process, daemon and shell, in whatever order messages come", async () => {
  const page = await show(newWindow());
  const complaints = complaintsOf(page);
  await sees(page, prompt);
  await run(page, "clear; for i in $(seq 200); do echo line $i; done; printf 'gr\\u00fc\\u00dfe\\n'");
  const screen = await sees(page, /^grüße$/m);
  const numbers = [...screen.matchAll(/^line (\d+)$/gm)].map(([, n]) => Number(n));
  expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, i) => 200 - numbers.length + 1 + i));
  expect(numbers.length).toBeGreaterThan(10);
  expect(complaints).toEqual([]);

  await sees(page, prompt);
  const rows = await rowsOf(page);
  await page.reload();
  await seesRows(page, rows);
  await page.close();
});

test("each window has a connection, which ends with it; a reload leaves none behind", async () => {
  const subscribers = async () => (await trl!.call("pty.list")).sessions[0]!.subscribers;
  for (const window of windows) window.close();
  await until("nobody", async () => (await subscribers()) === 0);
  const [first, second] = [newWindow(), newWindow()];
  const pages = [await show(first), await show(second)];
  await until("both", async () => (await subscribers()) === 2);
  await run(pages[0]!, "clear; echo for both");
  for (const page of pages) await sees(page, /^for both$/m);
  await pages[1]!.reload();
  await sees(pages[1]!, /^for both$/m);
  await until("both, and not a third", async () => (await subscribers()) === 2);
  second.close();
  await until("the one that is left", async () => (await subscribers()) === 1);
  for (const page of pages) await page.close();
});

test("a flood does not take the window with it, and ^C ends it", async () => {
  const page = await show(newWindow());
  await sees(page, prompt);
  const printed = async () => (await trl!.call("pty.list")).sessions[0]!.offset;
  const start = await printed();
  await run(page, "yes flood");
  let answers = 0;
  await until(
    "10 MB",
    async () => {
      expect(await page.evaluate("6 * 7")).toBe(42);
      answers++;
      return answers > 5 && (await printed()) - start > 10_000_000;
    },
    60_000,
  );
  await page.keyboard.press("Control+C");
  await sees(page, prompt);
  await run(page, "clear; echo back again");
  await sees(page, /^back again$/m);
  await page.close();
}, 90_000);

test("the end is shown, and Enter starts again", async () => {
  const page = await show(newWindow());
  await sees(page, prompt);
  await run(page, "exit 3");
  await sees(page, "[ended with exit code 3: press Enter to start again]");
  await page.keyboard.press("Enter");
  await until("a new prompt", async () => prompt.test(await screenOf(page)), seenWithinMs);
  await page.close();
});

test("a daemon that is gone is started again", async () => {
  const window = newWindow();
  const page = await show(window);
  await sees(page, prompt);
  const pid = await endDaemon(trl!);
  await sees(page, "press Enter to start again]");
  await page.keyboard.press("Enter");
  await sees(page, prompt);
  trl = await connect(socketPath);
  expect((await trl.call("system.stats")).pid).not.toBe(pid);
  await page.close();
});
