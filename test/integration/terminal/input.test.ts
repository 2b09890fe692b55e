// Keys that follow each other without a pause: each is echoed exactly once, and their order is kept.
import { expect, test } from "bun:test";
import { startDaemon } from "../../support/daemon.ts";
import { newTerminal, Watcher } from "../../support/terminal.ts";
import { until } from "../../support/wait.ts";

const alphabet = "abcdefghijklmnopqrstuvwxyz";
const keyAt = (at: number) => alphabet[at % alphabet.length]!;

test("are echoed once each, and nothing is lost or doubled", async () => {
  await using daemon = await startDaemon();
  using wire = await daemon.connect();
  const terminal = await newTerminal(wire, { command: "echo ready; cat" });
  await terminal.waitFor("ready");
  const watcher = await Watcher.subscribe(wire, { session_id: terminal.id, replay: "none" });
  for (let i = 0; i < 1000; i++) await terminal.type(i % 60 === 59 ? "\r" : keyAt(i));
  const lines = Array.from({ length: 1000 }, (_, i) => (i % 60 === 59 ? "\n" : keyAt(i))).join("");
  const [complete, rest] = [lines.split("\n").slice(0, -1), lines.split("\n").at(-1)!];
  // The terminal echoes each line, and cat prints it again.
  const expected = complete.map((line) => `${line}\r\n${line}\r\n`).join("") + rest;
  await until("all of it", () => watcher.all.length >= expected.length);
  // What cat prints may come in between the keys of the next line.
  expect(sorted(watcher.all.toString())).toBe(sorted(expected));
  expect(watcher.isExact).toBe(true);
});

test("keep their order when a thousand are under way, beside a program that asks its terminal", async () => {
  await using daemon = await startDaemon();
  using wire = await daemon.connect();
  // For each line a question; the answers go to the program, not to the screen.
  const asking = `stty -echo; echo ready; while read -r line; do printf '<%s>\\033[6n' "$line"; read -rs -d R answer; done`;
  const terminal = await newTerminal(wire, { command: asking, shell: "/bin/bash" });
  await terminal.waitFor("ready");
  using reader = await daemon.connect();
  const watcher = await Watcher.subscribe(reader, { session_id: terminal.id, replay: "none", passive: true });
  const words = Array.from({ length: 60 }, (_, i) => `w${i}`);
  for (const word of words) {
    await Promise.all([...word, "\r"].map((key) => terminal.type(key)));
    await until(word, () => watcher.all.includes(`<${word}>`));
  }
  expect([...watcher.all.toString().matchAll(/<(w\d+)>/g)].map(([, word]) => word!)).toEqual(words);
});

const sorted = (text: string): string => [...text].sort().join("");
