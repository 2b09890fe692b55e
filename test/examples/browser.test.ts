// examples/browser in real Chromium: its own page and server, a real daemon, a real keyboard.
import { expect } from "bun:test";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import {
  complaintsOf,
  launchBrowser,
  reads,
  rowsOf,
  screenOf,
  seenWithinMs,
  sees,
  seesRows,
} from "../support/browser.ts";
import { cuttableProxy } from "../support/cuttable-proxy.ts";
import { startHttp } from "../support/http.ts";
import { fencesOf } from "../support/markdown.ts";
import { needs } from "../support/needs.ts";
import { tempDir } from "../support/temp-dir.ts";
import { until } from "../support/wait.ts";

const { afterAll, beforeAll, test } = needs("chromium");

const root = join(import.meta.dir, "../..");
const server = join(root, "examples/browser/server.ts");
const token = "the-token-that-no-page-sees";

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

/** The example as its README says to run it, with a way to the daemon that can be cut. */
async function startExample() {
  await using stack = new AsyncDisposableStack();
  const proxy = stack.use(await cuttableProxy());
  const child = Bun.spawn([process.execPath, server], {
    env: { PATH: process.env["PATH"], PORT: "0", TRL_URL: proxy.url, TRL_AUTH_TOKEN: token },
    stdio: ["ignore", "pipe", "inherit"],
  });
  stack.defer(async () => {
    child.kill();
    await child.exited;
  });
  const address = await firstLine(child.stdout);
  const { origin } = new URL(address);
  const home = stack.use(tempDir()).path; // nobody's startup files
  const env = { TRL_AUTH_TOKEN: token, HOME: home };
  const daemon = stack.use(await startHttp({ flags: ["--allow-origin", origin], env }));
  proxy.to(daemon.port);
  const context = await browser.newContext();
  stack.defer(() => context.close());
  const open = async (viewport = { width: 900, height: 500 }): Promise<Page> => {
    const page = await context.newPage();
    await page.setViewportSize(viewport);
    await page.goto(address);
    await until("a beginning", async () => (await page.locator("#state").textContent()) !== "connecting");
    return page;
  };
  const rest = stack.move();
  return { address, origin, daemon, proxy, context, open, [Symbol.asyncDispose]: () => rest.disposeAsync() };
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of stream) {
    text += new TextDecoder().decode(chunk);
    if (text.includes("\n")) break;
  }
  return text.split("\n")[0]!;
}

/** Of bash, for root as well. */
const prompt = /[$#]$/;

const run = async (page: Page, command: string) => {
  await page.keyboard.type(command);
  await page.keyboard.press("Enter");
};

test("opens a terminal, takes what is typed and shows what comes, in any script and colour", async () => {
  await using example = await startExample();
  const page = await example.open();
  const complaints = complaintsOf(page);
  await run(page, "echo $((6 * 7))");
  await sees(page, /^42$/m);
  await run(page, "printf 'gr\\u00fc\\u00dfe \\u6f22\\u5b57 \\U1f642\\n'");
  await sees(page, /^grüße 漢字 🙂$/m);
  await run(page, "printf '\\033[38;2;250;100;50mpainted\\033[0m\\n'");
  await sees(page, /^painted$/m);
  const painted = page.locator(".xterm-rows span", { hasText: /^painted$/ });
  expect(await painted.getAttribute("style")).toContain("#fa6432");
  expect(complaints).toEqual([]);
});

test("after a reload the same screen is there, and the same shell", async () => {
  await using example = await startExample();
  const page = await example.open();
  await run(page, "X=kept; for i in $(seq 60); do echo line $i; done; printf '\\033[7mreversed\\033[0m\\n'");
  await sees(page, /^reversed$/m);
  await until("a screen at rest", async () => prompt.test(await screenOf(page)));
  const before = await rowsOf(page);
  await page.reload();
  await seesRows(page, before);
  // Lines above the screen are there, too.
  for (let i = 0; i < 3; i++) await page.keyboard.press("Shift+PageUp");
  await sees(page, /^line 1$/m);
  await run(page, "echo still $X");
  await sees(page, /^still kept$/m);
});

test("several tabs show one terminal, in the size of the one that is typed in", async () => {
  await using example = await startExample();
  const large = await example.open({ width: 1000, height: 600 });
  const small = await example.open({ width: 500, height: 300 });
  await run(large, "clear; echo from the large one");
  await sees(large, /^from the large one$/m);
  await sees(small, /^from the large one$/m);
  const largeSize = (await large.locator("#size").textContent())!;
  await reads(small, "#size", largeSize);

  await small.bringToFront();
  await run(small, "clear; stty size");
  await sees(small, /^\d+ \d+$/m);
  const [rows, cols] = /^(\d+) (\d+)$/m
    .exec(await screenOf(small))!
    .slice(1)
    .map(Number);
  expect(cols).toBeLessThan(70);
  for (const page of [large, small]) await reads(page, "#size", `${cols} × ${rows}`);
});

test("tabs that open together share the terminal", async () => {
  await using example = await startExample();
  const tabs = await Promise.all([example.open(), example.open(), example.open()]);
  await run(tabs[0]!, "echo $((7 * 191))");
  for (const tab of tabs) await sees(tab, /^1337$/m);
  expect((await example.daemon.call("pty.list", {})).sessions).toHaveLength(1);
});

test("a program that asks its terminal is answered once, by the tab that is typed in", async () => {
  await using example = await startExample();
  const large = await example.open({ width: 1000, height: 600 });
  await example.open({ width: 500, height: 300 });
  await large.bringToFront();
  // What comes back within a second is shown; the answer ends with a c, and so would each further one.
  await run(large, "clear; printf '\\033[c'; IFS= read -rst1 -dX x; echo \"heard ${x//[^c]/} once\"");
  await sees(large, /^heard c once$/m);
  expect((await example.daemon.call("pty.list", {})).sessions[0]!.cols).toBeGreaterThan(70);
});

test("the program learns of the window's size", async () => {
  await using example = await startExample();
  const page = await example.open();
  await run(page, "trap 'stty size' WINCH; echo ready");
  await sees(page, /^ready$/m);
  const before = await page.locator("#size").textContent();
  await page.setViewportSize({ width: 700, height: 420 });
  await until(
    "another size",
    async () => (await page.locator("#size").textContent()) !== before,
    seenWithinMs,
  );
  await run(page, "echo now");
  await sees(page, /^now$/m);
  const [cols, rows] = (await page.locator("#size").textContent())!.split(" × ");
  await sees(page, new RegExp(`${rows} ${cols}$`, "m"));
});

test("a lost connection comes back, with what was printed meanwhile", async () => {
  await using example = await startExample();
  const page = await example.open();
  await run(page, "echo before");
  await sees(page, /^before$/m);
  example.proxy.cut();
  await reads(page, "#state", "reconnecting");
  const typed = { session_id: "desk", data: "for i in 1 2 3; do echo meanwhile $i; done\r" };
  await example.daemon.call("pty.write", typed);
  await example.daemon.call("pty.wait", { session_id: "desk", until: { regex: "^meanwhile 3" } });
  expect(await screenOf(page)).not.toContain("meanwhile 3");
  example.proxy.mend();
  await reads(page, "#state", "connected");
  const screen = await sees(page, /^meanwhile 3$/m);
  expect(screen.match(/^(before|meanwhile \d)$/gm)).toEqual([
    "before",
    "meanwhile 1",
    "meanwhile 2",
    "meanwhile 3",
  ]);
  await run(page, "echo after");
  await sees(page, /^after$/m);
});

test("a flood does not take the page with it, and ^C ends it", async () => {
  await using example = await startExample();
  const page = await example.open();
  await run(page, "yes flood");
  await sees(page, /^flood$/m);
  const printed = async () => (await example.daemon.call("pty.list", {})).sessions[0]!.offset;
  const start = await printed();
  // A page that is busy with the past would answer none of these before the flood is over.
  let answers = 0;
  await until(
    "20 MB",
    async () => {
      expect(await page.evaluate("6 * 7")).toBe(42);
      answers++;
      return answers > 5 && (await printed()) - start > 20_000_000;
    },
    60_000,
  );
  await page.keyboard.press("Control+C");
  await sees(page, prompt);
  await run(page, "clear; echo back again");
  await sees(page, /^back again$/m);
}, 90_000);

test("the end is shown, and Enter starts again", async () => {
  await using example = await startExample();
  const page = await example.open();
  const complaints = complaintsOf(page);
  await run(page, "exit 3");
  await sees(page, "[ended with exit code 3: press Enter to start again]");
  await reads(page, "#state", "ended");
  await page.keyboard.type("ignored");
  await page.keyboard.press("Enter");
  await reads(page, "#state", "connected");
  await run(page, "clear; echo anew");
  expect(await sees(page, /^anew$/m)).not.toContain("ignored");
  expect(complaints).toEqual([]);
});

test("the page never has the token, and only who has the address gets a ticket", async () => {
  await using example = await startExample();
  const page = await example.context.newPage();
  const seen: string[] = [];
  page.on("request", (request) => seen.push(request.url(), JSON.stringify(request.headers())));
  page.on("response", async (response) => seen.push(await response.text().catch(() => "")));
  page.on("websocket", (socket) => seen.push(socket.url()));
  await page.goto(example.address);
  await reads(page, "#state", "connected");
  expect(seen.join("\n")).toContain("/ticket");
  expect(seen.join("\n")).not.toContain(token);

  const stranger = await fetch(`${example.origin}/ticket`, { method: "POST" });
  expect(stranger.status).toBe(401);
  await page.goto(`${example.origin}/#${"0".repeat(32)}`);
  await page.reload();
  await sees(page, "[open the address that the server has printed");
});

test("without a daemon the page says so", async () => {
  await using example = await startExample();
  example.proxy.cut();
  const page = await example.open();
  await sees(page, /\[no daemon is listening on http:\S+: press Enter to start again\]/);
  example.proxy.mend();
  await page.keyboard.press("Enter");
  await reads(page, "#state", "connected");
});

test("the script in the guide for frontends is all that a page needs", async () => {
  await using example = await startExample();
  const page = await example.context.newPage();
  const script = await guideScript();
  await page.route(/\.js$/, (route) => route.fulfill({ body: script, contentType: "text/javascript" }));
  await page.goto(example.address);
  await sees(page, prompt);
  await run(page, "echo $((6 * 7)); exit 3");
  const screen = await sees(page, "[ended with exit code 3]");
  expect(screen).toMatch(/^42$/m);
});

async function guideScript(): Promise<string> {
  const guide = fencesOf(await Bun.file(join(root, "docs/frontends.md")).text());
  const contents = guide.find(({ text }) => text.startsWith("import { FitAddon }"))!.text;
  const { outputs } = await Bun.build({
    entrypoints: [join(root, "examples/browser/main.ts")],
    target: "browser",
    plugins: [
      {
        name: "the guide's instead",
        setup: (build) =>
          void build.onLoad({ filter: /examples\/browser\/main\.ts$/ }, () => ({ contents, loader: "ts" })),
      },
    ],
  });
  return await outputs[0]!.text();
}
