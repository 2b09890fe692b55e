import { expect, test } from "bun:test";
import {
  camelCase,
  frontendMessages,
  frontendReplies,
  frontendTag,
  snakeCase,
} from "../../../../src/protocol/frontend.ts";

test("there are nine messages and seven replies", () => {
  expect(Object.keys(frontendMessages)).toHaveLength(9);
  expect(frontendReplies).toHaveLength(7);
});

test.each(Object.keys(frontendMessages))("%s is known in every spelling", (tag) => {
  const camel = tag[0]!.toLowerCase() + tag.slice(1);
  for (const spelling of [tag, snakeCase(tag), camel, snakeCase(tag).toUpperCase()])
    expect(frontendTag(spelling)).toBe(tag as keyof typeof frontendMessages);
});

test("nothing else is", () => {
  for (const type of [
    "",
    "_",
    "constructor",
    "__proto__",
    "toString",
    "Pings",
    "Pong",
    "create-session",
    " Ping",
  ])
    expect(frontendTag(type)).toBeUndefined();
});

test("names are respelt word by word", () => {
  expect(snakeCase("CreateSession")).toBe("create_session");
  expect(snakeCase("Ping")).toBe("ping");
  expect(camelCase("session_id")).toBe("sessionId");
  expect(camelCase("pid")).toBe("pid");
});
