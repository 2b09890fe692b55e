// What a client follows, when link after link is lost, and when a link is shared with others.
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

const outlet = { attach() {}, detach() {} } as unknown as FrameWriter;

class Follower extends RemoteSubscription {
  readonly resumed: RemoteLink[] = [];
  readonly taken: string[] = [];
  readonly takesPlace = false;
  readonly farewell: RemoteSubscription["farewell"] = ["exec.detach", { stream_id: this.id }];
  take({ text }: RemoteFrame): void {
    this.taken.push(text);
  }
  lose(): void {}
  async resume(link: RemoteLink): Promise<void> {
    this.resumed.push(link);
  }
}

test("it is asked for once on each link, however many losses led there", async () => {
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
  const follower = new Follower("x-1", connection, outlet);
  await connection.once("exec.attach", { stream_id: "x-1" }, { follower });
  // The first attempt to come back fails, and sleeps; meanwhile a request brings a link, which is lost at once.
  isShut = true;
  cut();
  await Bun.sleep(1);
  isShut = false;
  await connection.request("system.ping", {});
  cut();
  await connection.request("system.ping", {});
  await until("it to be asked for", () => follower.resumed.length > 0);
  await Bun.sleep(100); // longer than the first one sleeps
  expect(follower.resumed.length).toBe(new Set(follower.resumed).size);
  connection.release();
});

/** A runtime that is a single process: all have one link, on which a request waits until the test answers it. */
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
    runtime: new Runtime("far", spec, { open, mayBePrivate: true, target: "trl --stdin" }),
    asked: () => requests.map(({ method }) => method),
    answerLast: () => answer(requests.at(-1)!.id),
    prints: (data: string) =>
      events!.message(JSON.stringify({ stream_id: "x-1", type: "stdout", data, offset: 0, end: 1 })),
  };
}

const turn = () => new Promise(setImmediate);

test.each(["after", "before"])(
  "what one has left %s it was answered is asked for when it is given up",
  async (when) => {
    const { runtime, asked, answerLast, prints } = singleProcess();
    const params = { stream_id: "x-1" };
    const [first, second] = [new RemoteConnection(runtime), new RemoteConnection(runtime)];
    const leaver = new Follower("x-1", first, outlet);
    const attached = first.once("exec.attach", params, { follower: leaver });
    await until("it to be asked for", () => asked().length === 1);
    const answered = async () => {
      answerLast();
      await attached;
    };
    if (when === "after") await answered();
    leaver.end(); // as by the client's connection
    first.release();
    const follower = new Follower("x-1", second, outlet);
    const attachedNext = second.once("exec.attach", params, { follower });
    await turn();
    if (when === "before") await answered();
    await turn();
    expect(asked()).toEqual(["exec.attach", "exec.detach"]);
    prints("of the first");
    answerLast();
    await until("it to be asked for again", () => asked().length === 3);
    answerLast();
    await attachedNext;
    prints("of the second");
    expect(leaver.taken).toEqual([]);
    expect(follower.taken.map((text) => JSON.parse(text).data)).toEqual(["of the second"]);
    second.release();
  },
);
