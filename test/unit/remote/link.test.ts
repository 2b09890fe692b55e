// What a link makes of silence.
import { afterEach, beforeEach, expect, jest, spyOn, test } from "bun:test";
import { RemoteLink } from "../../../src/remote/link.ts";

/** A daemon that answers what it is asked unless it sleeps. */
async function openLink() {
  const daemon = { sleeps: false };
  const link = await RemoteLink.open(({ message }) => ({
    send: (text) => {
      const { id } = JSON.parse(text) as { id: string };
      const reply = JSON.stringify({ id, ok: true, data: { version: "1" } });
      if (!daemon.sleeps) queueMicrotask(() => message(reply));
    },
    close: () => {},
  }));
  let reason: string | undefined;
  link.onLost.add(({ message }) => {
    reason = message;
  });
  return { link, daemon, lost: () => reason };
}

let now = 0;
/** Also for who looks at the clock. */
function pass(seconds: number): void {
  for (let i = 0; i < seconds; i++) {
    now += 1000;
    jest.advanceTimersByTime(1000);
  }
}
beforeEach(() => {
  jest.useFakeTimers();
  spyOn(performance, "now").mockImplementation(() => now);
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

test("one that nobody has used for a while is not taken for dead when somebody does", async () => {
  const { link, daemon, lost } = await openLink();
  pass(100);
  daemon.sleeps = true; // it is busy with the answer
  void link.request("session.create", { init: "sleep 20" }).catch(() => {});
  pass(30);
  expect(lost()).toBeUndefined();
  pass(30);
  expect(lost()).toMatch(/^nothing was heard for \d+ s$/);
});

test("one on which somebody waits lives as long as it says that it does", async () => {
  const { link, daemon, lost } = await openLink();
  daemon.sleeps = true;
  void link.request("exec.run", { command: "sleep 200" }).catch(() => {});
  daemon.sleeps = false;
  for (let i = 0; i < 20; i++) {
    pass(10);
    await Promise.resolve();
  }
  expect(lost()).toBeUndefined();
  await link.close();
});
