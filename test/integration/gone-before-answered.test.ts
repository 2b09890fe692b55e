// Who asks to watch and is gone before it is answered: the number of its socket is the next client's.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import { newTerminal } from "../support/terminal.ts";
import { until } from "../support/wait.ts";

const token = "the right word";
let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startDaemon({ env: { TRL_AUTH_TOKEN: token } });
});
afterAll(() => daemon[Symbol.asyncDispose]());

const connections = async () => {
  using wire = await daemon.connect();
  return (await wire.call("system.stats", {})).connections;
};

const dialects = {
  methods: (session_id: string) => [
    { id: "s", method: "pty.subscribe", params: { session_id, replay: "none" } },
  ],
  frontends: (session_id: string) => [
    { type: "Auth", token },
    { type: "Subscribe", session_id },
  ],
};

describe("gone before it is answered", () => {
  for (const [dialect, asking] of Object.entries(dialects)) {
    for (const count of [1, 5]) {
      test(`${dialect}, ${count} of them: what is printed reaches nobody else`, async () => {
        const session_id = `${dialect}-${count}`;
        using owner = await daemon.connect();
        // Its program has ended. What that has left does not hear that it is to end, so that the name is not free yet.
        const before = await newTerminal(owner, {
          session_id,
          command: "trap '' HUP TERM; sleep 1000 & exit 0",
        });
        await until("the end of the program", async () => (await before.summary()).state === "exited");
        const creating = owner.request("pty.create", { session_id, command: "cat", args: [] });
        const leavers = await Promise.all(Array.from({ length: count }, () => daemon.connect()));
        for (const leaver of leavers) for (const frame of asking(session_id)) leaver.sendFrame(frame);
        // They have been heard when others who come after them are.
        const left = await connections();
        for (const leaver of leavers) leaver[Symbol.dispose]();
        await until("them to have left", async () => (await connections()) <= left - count);
        const bystanders = await Promise.all(Array.from({ length: count + 3 }, () => daemon.connect()));
        for (const bystander of bystanders) await bystander.call("system.ping", {});
        expect(await creating).toMatchObject({ ok: true });
        const terminal = { session_id };
        for (const data of ["x", "a longer line that is more than a few bytes, and is echoed as it is\r"])
          await owner.call("pty.write", { ...terminal, data });
        await owner.call("pty.wait", { ...terminal, until: { text: "echoed as it is" }, timeout_s: 15 });
        for (const bystander of bystanders) {
          await bystander.call("system.ping", {});
          expect(bystander.frames.map(({ ok }) => ok)).toEqual([true, true]);
          bystander[Symbol.dispose]();
        }
        expect(
          (await owner.call("pty.list", {})).sessions.find((it) => it.session_id === session_id),
        ).toMatchObject({
          subscribers: 0,
        });
        await owner.call("pty.close", terminal);
      }, 60_000);
    }
  }
});
