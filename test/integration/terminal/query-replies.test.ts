// Several windows show one terminal, and each has an emulator that answers what the program asks.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { startDaemon } from "../../support/daemon.ts";
import { newTerminal, Watcher } from "../../support/terminal.ts";
import type { Wire } from "../../support/wire.ts";

/** Asks for its attributes once all who answer are there, and shows each character that comes back. */
const asker = (go: string) =>
  `stty raw -echo; until [ -e ${go} ]; do sleep 0.01; done; printf 'asks\\033[c'; while :; do c=$(dd bs=1 count=1 2>/dev/null); printf '<%s>' "$c"; done`;
const answer = (wire: Wire, session_id: string, attribute: number) =>
  wire.call("pty.write", { session_id, data: `\x1b[?${attribute}c` });
const type = (wire: Wire, session_id: string, data: string) => wire.call("pty.write", { session_id, data });

test("the program hears the answer of the window that was typed in last, once", async () => {
  await using daemon = await startDaemon();
  const go = `${daemon.dir}/go`;
  using first = await daemon.connect();
  using second = await daemon.connect();
  const { id, waitFor, snapshot } = await newTerminal(first, { command: asker(go), cols: 80, rows: 8 });
  for (const wire of [first, second]) await Watcher.subscribe(wire, { session_id: id });
  writeFileSync(go, "");
  await waitFor("asks");

  await answer(first, id, 1); // nobody has typed: the first that answers
  await answer(second, id, 2);
  await type(second, id, "k");
  await answer(first, id, 3);
  await answer(second, id, 4);
  await type(first, id, ".");
  await waitFor("<.>");
  const heard = (await snapshot()).lines!.join("").replaceAll(/asks|\s/g, "");
  expect(heard).toBe("<<[><?><1><c><k><<[><?><4><c><.>"); // ESC takes the bracket behind it
});

test("an answer does not decide the size, and who has left does not answer", async () => {
  await using daemon = await startDaemon();
  const go = `${daemon.dir}/go`;
  using large = await daemon.connect();
  const { id, waitFor, summary } = await newTerminal(large, { command: asker(go), cols: 80, rows: 8 });
  using small = await daemon.connect();
  for (const wire of [large, small]) await Watcher.subscribe(wire, { session_id: id });
  writeFileSync(go, "");
  await large.call("pty.resize", { session_id: id, cols: 90, rows: 9 });
  await type(large, id, "k");
  await small.call("pty.resize", { session_id: id, cols: 40, rows: 5 });
  await answer(small, id, 1);
  await answer(large, id, 2);
  await waitFor("<2>");
  expect((await summary()).cols).toBe(90);

  // Who is passive answers nothing, so it stands in nobody's way, whatever it types.
  using agent = await daemon.connect();
  await agent.call("pty.subscribe", { session_id: id, passive: true });
  await type(agent, id, "k");
  await answer(large, id, 4);
  await waitFor("<4>");

  await large.call("pty.unsubscribe", { session_id: id });
  await answer(small, id, 3);
  await waitFor("<3>");
  expect((await summary()).cols).toBe(90);
});
