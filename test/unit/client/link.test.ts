// What is an answer, when silence is an end, and when it is none. Time is ours here: it would take minutes otherwise.
import { afterEach, beforeEach, expect, test } from "bun:test";
import type { CarrierEvents } from "../../../src/client/carriers/carrier.ts";
import { Link } from "../../../src/client/link.ts";

const own = globalThis.setInterval;
let tick = () => {};

beforeEach(() => {
  globalThis.setInterval = ((listener: () => void) => {
    tick = listener;
    return own(() => {}, 2 ** 30).unref();
  }) as unknown as typeof setInterval;
});
afterEach(() => {
  globalThis.setInterval = own;
});

/** A daemon that answers a ping, or does not. */
async function openLink(isMute = false) {
  const sent: string[] = [];
  const lost: string[] = [];
  let events!: CarrierEvents;
  const link = await Link.open(
    (given) => {
      events = given;
      return {
        send(frame) {
          const { id, method } = JSON.parse(frame);
          sent.push(method);
          if (method === "system.ping" && !isMute) events.message(`{"id":"${id}","ok":true,"data":{}}`);
        },
        close() {},
      };
    },
    (_, error) => lost.push(error.message),
  );
  const pass = (minutes: number) => {
    for (let ticks = 0; ticks < minutes * 12; ticks++) tick();
  };
  return { link, sent, lost, pass };
}

test("nobody who waits for nothing minds the silence, nor asks", async () => {
  const { sent, lost, pass } = await openLink();
  pass(60);
  expect({ sent, lost }).toEqual({ sent: [], lost: [] });
});

test("a request after a long silence is not taken for one that was never answered", async () => {
  const { link, lost, pass } = await openLink(true);
  pass(60);
  link.request("exec.run", {}).catch(() => {});
  tick();
  tick();
  expect(lost).toEqual([]);
});

test("a command may take as long as it likes: the daemon is asked, and answers", async () => {
  const { link, sent, lost, pass } = await openLink();
  link.request("exec.run", {}).catch(() => {});
  pass(60);
  expect(lost).toEqual([]);
  expect(sent.filter((method) => method === "system.ping").length).toBeGreaterThan(10);
});

test("a daemon that says nothing though it was asked is not there any more", async () => {
  const { link, lost, pass } = await openLink(true);
  const answer = link.request("exec.run", {});
  answer.catch(() => {});
  pass(2);
  expect(lost).toEqual(["nothing was heard for 45 s"]);
  await expect(answer).rejects.toThrow("the connection was lost");
  expect(link.isOver).toBe(true);
});

test("who takes nothing hears nothing: that is no end", async () => {
  const { link, lost, pass } = await openLink(true);
  link.request("exec.run", {}).catch(() => {});
  link.isPaused = true;
  pass(60);
  expect(lost).toEqual([]);
  link.isPaused = false;
  pass(2);
  expect(lost).toHaveLength(1);
});

test("a request that is too long to be read is refused, though the answer cannot name it", async () => {
  let events!: CarrierEvents;
  const open = (given: CarrierEvents) => {
    events = given;
    return { send() {}, close() {} };
  };
  const link = await Link.open(open, () => {});
  const ends: string[] = [];
  const ask = (name: string, params: object) =>
    link.request("exec.run", params).catch((error: Error) => ends.push(`${name}: ${error.message}`));
  const asked = [
    ask("short", {}),
    ask("long", { command: "ä".repeat(600) }),
    ask("other", { command: "x".repeat(900) }),
  ];
  const tooLarge = '{"id":"unknown","ok":false,"error":{"code":"REQUEST_TOO_LARGE","message":"too long"}}';
  events.message(tooLarge);
  await asked[1];
  events.message(tooLarge);
  await asked[2];
  expect(ends).toEqual(["long: too long", "other: too long"]);
  await link.close();
});
