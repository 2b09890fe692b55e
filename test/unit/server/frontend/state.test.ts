import { describe, expect, test } from "bun:test";
import { dialectOf, type Spelling, spell } from "../../../../src/server/frontend/spelling.ts";
import { FrontendState } from "../../../../src/server/frontend/state.ts";

function learnt(...messages: [type: string, fields?: Record<string, unknown>][]): Spelling {
  const state = new FrontendState();
  for (const [type, fields = {}] of messages) state.learn(type, fields);
  return state.spelling;
}

describe("the spelling", () => {
  test("of the tags is the first message's", () => {
    expect(learnt(["Auth"], ["ping"]).tag).toBe("pascal");
    expect(learnt(["auth"], ["Ping"]).tag).toBe("snake");
    expect(learnt(["createSession"]).tag).toBe("snake");
    expect(learnt().tag).toBe("pascal");
  });

  test("of the fields is that of the first message that has one", () => {
    expect(learnt(["Auth"]).field).toBe("both");
    expect(learnt(["Auth"], ["Subscribe", { sessionId: "x" }], ["Resize", { session_id: "x" }]).field).toBe(
      "camel",
    );
    expect(learnt(["Auth"], ["Subscribe", { session_id: "x" }], ["Resize", { sessionId: "x" }]).field).toBe(
      "snake",
    );
  });
});

describe("a reply", () => {
  const fields = { session_id: "x", sessions: [{ created_at: "now", pid: 1 }], signal: null };

  test.each<[Spelling, string]>([
    [
      { tag: "pascal", field: "snake" },
      '{"type":"SessionList","session_id":"x","sessions":[{"created_at":"now","pid":1}],"signal":null}',
    ],
    [
      { tag: "snake", field: "camel" },
      '{"type":"session_list","sessionId":"x","sessions":[{"createdAt":"now","pid":1}],"signal":null}',
    ],
    [
      { tag: "snake", field: "both" },
      '{"type":"session_list","session_id":"x","sessionId":"x",' +
        '"sessions":[{"created_at":"now","createdAt":"now","pid":1}],"signal":null}',
    ],
  ])("in %j", (spelling, text) => expect(spell("SessionList", fields, spelling)).toBe(text));

  test("leaves the values as they are", () => {
    const message = 'session_id: "\ud800" \0 ü';
    expect(JSON.parse(spell("Error", { message }, { tag: "pascal", field: "camel" }))).toEqual({
      type: "Error",
      message,
    });
  });
});

test("connections with the same spelling share their frames", () => {
  const spelling: Spelling = { tag: "snake", field: "camel" };
  expect(dialectOf({ ...spelling })).toBe(dialectOf(spelling));
  expect(dialectOf({ ...spelling, tag: "pascal" })).not.toBe(dialectOf(spelling));
});

describe("replies in order", () => {
  /** The order in which replies are sent, while they become ready in another one. */
  async function orderOf(blocks: boolean[], ready: number[]): Promise<number[]> {
    const state = new FrontendState();
    const answers = blocks.map(() => Promise.withResolvers<void>());
    const given: number[] = [];
    const all = Promise.allSettled(
      answers.map(({ promise }, i) => state.inOrder(promise, blocks[i]!).finally(() => given.push(i))),
    );
    for (const i of ready) {
      if (i % 2) answers[i]!.reject(new Error("a failure"));
      else answers[i]!.resolve();
      await Bun.sleep(0); // a chance to overtake
    }
    await all;
    return given;
  }

  test("come in the order of the messages", async () => {
    expect(await orderOf([true, true, true, true], [3, 2, 1, 0])).toEqual([0, 1, 2, 3]);
  });

  test("a reply that does not block delays no later reply, and overtakes none", async () => {
    expect(await orderOf([true, false, true], [0, 2, 1])).toEqual([0, 2, 1]);
    expect(await orderOf([true, false, true], [1, 2, 0])).toEqual([0, 1, 2]);
  });
});
