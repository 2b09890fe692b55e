// Real Chromium, for tests that declare `needs("chromium")`, and what its pages show.
import { expect } from "bun:test";
import { type Browser, chromium, type Page } from "playwright-core";
import { findBrowser } from "./requirements.ts";
import { hangMs, until } from "./wait.ts";

/** A page that is slow is slow because the machine is busy. */
export const seenWithinMs = hangMs;

export async function launchBrowser(): Promise<Browser> {
  const args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"];
  return await chromium.launch({ executablePath: findBrowser()!, args });
}

/** The rows that xterm.js has drawn. */
export const rowsOf = async (page: Page): Promise<string[]> =>
  (await page.locator(".xterm-rows > div").allTextContents()).map((row) =>
    row.replaceAll("\u00a0", " ").trimEnd(),
  );

export const screenOf = async (page: Page): Promise<string> => (await rowsOf(page)).join("\n").trimEnd();

/** Waits until the page's terminal shows it. */
export async function sees(page: Page, what: string | RegExp): Promise<string> {
  let screen = "";
  try {
    await until(
      String(what),
      async () => {
        screen = await screenOf(page);
        return typeof what === "string" ? screen.includes(what) : what.test(screen);
      },
      seenWithinMs,
    );
    return screen;
  } catch (error) {
    throw new Error(`${(error as Error).message}; the screen is\n${screen}`);
  }
}

/** Waits until the page's terminal shows these rows and no others: a page draws them as they come, not all at once. */
export async function seesRows(page: Page, rows: string[]): Promise<void> {
  const isSame = async () => Bun.deepEquals(await rowsOf(page), rows);
  await until("these rows", isSame, seenWithinMs).catch(() => {});
  expect(await rowsOf(page)).toEqual(rows);
}

/** Waits until an element has this text. */
export const reads = (page: Page, selector: string, text: string): Promise<unknown> =>
  until(
    `"${text}" in ${selector}`,
    async () => (await page.locator(selector).textContent()) === text,
    seenWithinMs,
  );

/** What goes wrong in a page, and what it warns of. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  return complaints;
}
