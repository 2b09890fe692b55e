// What a client follows, when link after link is lost.
import { expect, test } from "bun:test";
import type { CarrierEvents } from "../../../src/client/carriers/carrier.ts";
import { FarConnection } from "../../../src/runtime/far-connection.ts";
import type { FarLink } from "../../../src/runtime/far-link.ts";
import { Followed } from "../../../src/runtime/followed.ts";
import type { Outlet } from "../../../src/runtime/outlet.ts";
import { Runtime } from "../../../src/runtime/runtime.ts";
import { until } from "../../support/wait.ts";

const outlet = { attach() {}, detach() {} } as unknown as Outlet;

class Follower extends Followed {
  readonly resumed: FarLink[] = [];
  readonly farewell: Followed["farewell"] = ["exec.detach", { stream_id: this.id }];
  take(): void {}
  lose(): void {}
  async resume(link: FarLink): Promise<void> {
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
  const connection = new FarConnection(new Runtime("far", spec, { open, find: open, target: "nowhere" }));
  const cut = () => latest!.closed(new Error("cut"));
  await connection.request("system.ping", {});
  const follower = new Follower("x-1", connection, outlet);
  connection.follow(follower);
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
