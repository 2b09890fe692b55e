// A link to a remote daemon that is silent.
import { afterEach, beforeEach, expect, jest, spyOn, test } from "bun:test";
import { NoDaemonError } from "../../../src/client/carriers/carrier.ts";
import { RemoteLink } from "../../../src/remote/link.ts";

/** A daemon that answers every request unless it sleeps. */
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
/** Advances the timers and the clock. */
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

test("silence before a request does not count against it", async () => {
  const { link, daemon, lost } = await openLink();
  pass(100);
  daemon.sleeps = true; // it is busy with the request
  void link.request("session.create", { init: "sleep 20" }).catch(() => {});
  pass(30);
  expect(lost()).toBeUndefined();
  pass(30);
  expect(lost()).toMatch(/^the daemon sent nothing for \d+ s$/);
});

test("a link with a pending request lives as long as the daemon answers pings", async () => {
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

test.each([
  ["nothing within the handshake timeout", undefined, "the daemon sent nothing within 30 s"],
  ["its requests back", (text: string) => text, "does not speak the protocol"],
  ["a reply without a version", (text: string) => reply(text, {}), "does not speak the protocol"],
  ["a reply without data", (text: string) => reply(text, undefined), "does not speak the protocol"],
])("a peer that sends %s is refused", async (_, answer, message) => {
  const sent = Promise.withResolvers<void>();
  const opening = RemoteLink.open(({ message: deliver }) => ({
    send: (text) => {
      sent.resolve();
      if (answer) queueMicrotask(() => deliver(answer(text)));
    },
    close: () => {},
  }));
  opening.catch(() => {});
  await sent.promise;
  if (!answer) pass(30);
  const error = await opening.catch((failure: Error) => failure);
  expect(error).toBeInstanceOf(Error);
  expect((error as Error).message).toContain(message);
});

test("a carrier that closes during the handshake rejects with its own error", async () => {
  const error = new NoDaemonError("nothing listens");
  const opening = RemoteLink.open(({ closed }) => ({ send: () => closed(error), close: () => {} }));
  await expect(opening).rejects.toBe(error);
});

const reply = (request: string, data: object | undefined): string =>
  JSON.stringify({ id: (JSON.parse(request) as { id: string }).id, ok: true, data });

test("a request that is too long for the remote daemon is rejected, though the reply has no id", async () => {
  const tooLarge = '{"id":"unknown","ok":false,"error":{"code":"REQUEST_TOO_LARGE","message":"too long"}}';
  const link = await RemoteLink.open(({ message }) => ({
    send: (text) =>
      queueMicrotask(() => message(text.length > 500 ? tooLarge : reply(text, { version: "1" }))),
    close: () => {},
  }));
  const request = link.request("exec.run", { command: "x".repeat(600) });
  await expect(request).rejects.toMatchObject({ code: "REQUEST_TOO_LARGE" });
  await link.close();
});
