// Replies, silence and its limits. The test drives the timer: real silence would take minutes.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { CarrierEvents } from "../../../src/client/carriers/carrier.ts";
import { decodeFrame, Link } from "../../../src/client/link.ts";

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

/** A daemon that answers a ping, unless it is mute. */
async function openLink(isMute = false) {
  const sent: string[] = [];
  const lost: string[] = [];
  let events!: CarrierEvents;
  const link = await Link.open({
    open: (given) => {
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
    decode: decodeFrame,
    onLost: (error) => lost.push(error.message),
  });
  const pass = (minutes: number) => {
    for (let ticks = 0; ticks < minutes * 12; ticks++) tick();
  };
  return { link, sent, lost, pass, message: (text: string) => events.message(text) };
}

describe("silence", () => {
  test("on an idle link causes neither a ping nor an end", async () => {
    const { sent, lost, pass } = await openLink();
    pass(60);
    expect({ sent, lost }).toEqual({ sent: [], lost: [] });
  });

  test("before a request does not count against it", async () => {
    const { link, lost, pass } = await openLink(true);
    pass(60);
    link.request("exec.run", {}).catch(() => {});
    tick();
    tick();
    expect(lost).toEqual([]);
  });

  test("during a long command is interrupted by pings", async () => {
    const { link, sent, lost, pass } = await openLink();
    link.request("exec.run", {}).catch(() => {});
    pass(60);
    expect(lost).toEqual([]);
    expect(sent.filter((method) => method === "system.ping").length).toBeGreaterThan(10);
  });

  test("in spite of pings ends the link", async () => {
    const { link, lost, pass } = await openLink(true);
    const answer = link.request("exec.run", {});
    answer.catch(() => {});
    pass(2);
    expect(lost).toEqual(["the daemon sent nothing for 45 s"]);
    await expect(answer).rejects.toThrow("the connection was lost");
    expect(link.isClosed).toBe(true);
  });

  test("of a paused link is no end", async () => {
    const { link, lost, pass } = await openLink(true);
    link.request("exec.run", {}).catch(() => {});
    link.isPaused = true;
    pass(60);
    expect(lost).toEqual([]);
    link.isPaused = false;
    pass(2);
    expect(lost).toHaveLength(1);
  });
});

test("REQUEST_TOO_LARGE without an id rejects the longest request", async () => {
  const { link, message } = await openLink();
  const ends: string[] = [];
  const ask = (name: string, params: object) =>
    link.request("exec.run", params).catch((error: Error) => ends.push(`${name}: ${error.message}`));
  const asked = [
    ask("short", {}),
    ask("long", { command: "ä".repeat(600) }),
    ask("other", { command: "x".repeat(900) }),
  ];
  const tooLarge = '{"id":"unknown","ok":false,"error":{"code":"REQUEST_TOO_LARGE","message":"too long"}}';
  message(tooLarge);
  await asked[1];
  message(tooLarge);
  await asked[2];
  expect(ends).toEqual(["long: too long", "other: too long"]);
  await link.close();
});

test.each(["welcome", "null", "12", '{"id":"1","ok":false}', '{"id":"1","ok":true}'])(
  "text that is no message ends the link: %s",
  async (text) => {
    const { link, lost, message } = await openLink(true);
    const answer = link.request("exec.run", {});
    answer.catch(() => {});
    message(text);
    expect(lost).toEqual([
      `the other end does not speak the protocol of trl: it sent ${JSON.stringify(text)}`,
    ]);
    await expect(answer).rejects.toMatchObject({ mayHaveRun: true });
    await expect(link.request("exec.run", {})).rejects.toMatchObject({ mayHaveRun: false });
  },
);

test("a listener that joins replaces the earlier one, unless it listens alone", async () => {
  const { link, message } = await openLink();
  const heard: string[] = [];
  const [first, second] = [() => heard.push("first"), () => heard.push("second")];
  const frame = () => message('{"stream_id":"x-1","type":"stdout"}');
  link.listenAlone("x-1", first);
  expect(() => link.listenAlone("x-1", second)).toThrow("is followed by this client already");
  frame();
  link.listen("x-1", second);
  link.unlisten("x-1", first); // it has no effect on the second
  frame();
  expect(heard).toEqual(["first", "second"]);
  await link.close();
});
