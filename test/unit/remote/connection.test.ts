// Subscriptions when one link after another is lost, and when several clients share a link.
import { expect, test } from "bun:test";
import type { CarrierEvents } from "../../../src/client/carriers/carrier.ts";
import type { RuntimeSpec } from "../../../src/protocol/runtime.ts";
import { RemoteConnection } from "../../../src/remote/connection.ts";
import type { RemoteLink } from "../../../src/remote/link.ts";
import { Runtime } from "../../../src/remote/runtime.ts";
import type { RemoteFrame } from "../../../src/remote/subscriptions/frame-text.ts";
import { RemoteSubscription } from "../../../src/remote/subscriptions/subscription.ts";
import type { FrameWriter } from "../../../src/remote/writer.ts";
import { until } from "../../support/wait.ts";

const writer = { attach() {}, detach() {} } as unknown as FrameWriter;

class TestSubscription extends RemoteSubscription {
  readonly resumed: RemoteLink[] = [];
  readonly received: string[] = [];
  readonly replacesPrevious = false;
  readonly detachRequest: RemoteSubscription["detachRequest"] = ["exec.detach", { stream_id: this.id }];
  receive({ text }: RemoteFrame): void {
    this.received.push(text);
  }
  fail(): void {}
  async resume(link: RemoteLink): Promise<void> {
    this.resumed.push(link);
  }
}

test("a subscription is resumed once on each link, however many losses led to it", async () => {
  let isShut = false;
  let latest: CarrierEvents | undefined;
  const open = async (events: CarrierEvents) => {
    if (isShut) throw new Error("shut");
    latest = events;
    return {
      send: (text: string) => {
        const { id } = JSON.parse(text) as { id: string };
        queueMicrotask(() => events.message(JSON.stringify({ id, ok: true, data: { version: "1" } })));
      },
      close: () => {},
    };
  };
  const spec = { kind: "socket", path: "/nowhere" } as const;
  const connection = new RemoteConnection(new Runtime("far", spec, { open, find: open, target: "nowhere" }));
  const cut = () => latest!.closed(new Error("cut"));
  const subscription = new TestSubscription("x-1", connection, writer);
  await connection.send("exec.attach", { stream_id: "x-1" }, { subscription });
  // The first resume fails and waits; meanwhile a request opens a link, which is lost at once.
  isShut = true;
  cut();
  await Bun.sleep(1);
  isShut = false;
  await connection.request("system.ping", {});
  cut();
  await connection.request("system.ping", {});
  await until("a request", () => subscription.resumed.length > 0);
  await Bun.sleep(100); // longer than the backoff of the first resume
  expect(subscription.resumed.length).toBe(new Set(subscription.resumed).size);
  connection.release();
});

/** A runtime that is a single process: all clients share a link, and a request waits until the test answers it. */
function singleProcess() {
  const requests: { id: string; method: string }[] = [];
  let events: CarrierEvents | undefined;
  const answer = (id: string, data: object = {}) =>
    events!.message(JSON.stringify({ id, ok: true, data: { version: "1", ...data } }));
  const open = async (its: CarrierEvents) => {
    events = its;
    const send = (text: string) => {
      const { id, method } = JSON.parse(text) as { id: string; method: string };
      if (!method.startsWith("system.")) requests.push({ id, method });
      else queueMicrotask(() => answer(id, { capabilities: { transports: ["stdin"] } }));
    };
    return { send, close: () => {} };
  };
  const spec: RuntimeSpec = { kind: "command", argv: ["trl", "--stdin"] };
  return {
    runtime: new Runtime("far", spec, { open, mayBeSingleLink: true, target: "trl --stdin" }),
    asked: () => requests.map(({ method }) => method),
    answerLast: () => answer(requests.at(-1)!.id),
    prints: (data: string) =>
      events!.message(JSON.stringify({ stream_id: "x-1", type: "stdout", data, offset: 0, end: 1 })),
  };
}

const turn = () => new Promise(setImmediate);

test.each(["after", "before"])(
  "a subscription waits for the detach of a client that left %s its reply",
  async (when) => {
    const { runtime, asked, answerLast, prints } = singleProcess();
    const params = { stream_id: "x-1" };
    const [first, second] = [new RemoteConnection(runtime), new RemoteConnection(runtime)];
    const leaver = new TestSubscription("x-1", first, writer);
    const attached = first.send("exec.attach", params, { subscription: leaver });
    await until("a request", () => asked().length === 1);
    const answered = async () => {
      answerLast();
      await attached;
    };
    if (when === "after") await answered();
    leaver.end(); // as when the client disconnects
    first.release();
    const subscription = new TestSubscription("x-1", second, writer);
    const attachedNext = second.send("exec.attach", params, { subscription });
    await turn();
    if (when === "before") await answered();
    await turn();
    expect(asked()).toEqual(["exec.attach", "exec.detach"]);
    prints("of the first");
    answerLast();
    await until("another request", () => asked().length === 3);
    answerLast();
    await attachedNext;
    prints("of the second");
    expect(leaver.received).toEqual([]);
    expect(subscription.received.map((text) => JSON.parse(text).data)).toEqual(["of the second"]);
    second.release();
  },
);
