// Whatever a frontend sends, it is answered or shown the listener by the rule, and the daemon lives on. A failure names its
// seed and its smallest messages; TRL_FUZZ_SEED=<it> repeats it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import * as v from "valibot";
import { type FrontendTag, frontendMessages, frontendTag } from "../../src/protocol/frontend.ts";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import { isAlive } from "../support/processes.ts";
import { until } from "../support/wait.ts";
import type { Frame, Wire } from "../support/wire.ts";
import { settings } from "./fuzz.ts";

const token = "right";

let daemon: TestDaemon;
beforeAll(async () => {
  // What is typed into a terminal must do no harm.
  const flags = ["--shell", "/bin/cat", "--max-sessions", "8"];
  daemon = await startDaemon({ flags, env: { TRL_AUTH_TOKEN: token } });
});
afterAll(() => daemon[Symbol.asyncDispose]());

test(
  "on a connection that has proved itself",
  () => fuzz(fc.constantFrom("Auth", "auth"), afterAuth),
  120_000,
);

test("on one that has not", () => fuzz(fc.boolean(), beforeAuth), 120_000);

async function fuzz<T>(how: fc.Arbitrary<T>, run: (how: T, lines: string[]) => Promise<void>): Promise<void> {
  const property = fc.asyncProperty(
    how,
    fc.array(line, { minLength: 1, maxLength: 20 }),
    async (...given) => {
      await run(...given);
      await endAll();
    },
  );
  await fc.assert(property, { ...settings, endOnFailure: false });
  expect(daemon.log()).not.toContain("internal error");
  expect(isAlive(daemon.pid)).toBeTrue();
}

/** What may answer a message, beside Error; nothing where there is none. */
const answers: Record<FrontendTag, string | undefined> = {
  Auth: "AuthResult",
  CreateSession: "SessionCreated",
  WriteInput: undefined,
  Resize: undefined,
  Subscribe: undefined,
  Unsubscribe: undefined,
  CloseSession: undefined, // comes when it comes
  ListSessions: "SessionList",
  Ping: "Pong",
};

/** Each message by itself, with a Ping behind it: what comes before its Pong is the answer. */
async function afterAuth(authTag: string, lines: string[]): Promise<void> {
  using wire = await daemon.connect();
  const isPascal = authTag === "Auth";
  const plainOf = (frame: Frame) => String(frame["type"]).replaceAll("_", "").toLowerCase();
  wire.sendFrame({ type: authTag, token });
  await until("AuthResult", () => wire.frames.length === 1);
  for (const text of lines) {
    const message = JSON.parse(text);
    const tag = frontendTag(message.type);
    const begin = wire.frames.length;
    const isOver = tag === "Auth" && message.token !== token;
    const pongs = tag === "Ping" ? 2 : 1;
    wire.send(`${text}\n{"type":"Ping"}\n`);
    const fresh = () => wire.frames.slice(begin);
    if (isOver) await wire.untilClosed();
    else await until("Pong", () => fresh().filter((frame) => plainOf(frame) === "pong").length === pongs);
    for (const { type } of fresh()) expect(type).toMatch(isPascal ? /^[A-Z][A-Za-z]+$/ : /^[a-z_]+$/);
    const told = fresh().filter((frame) => !/^session(?:output|closed)$/.test(plainOf(frame)));
    if (!isOver) told.pop();
    expectAnswer(tag, message, told.map(plainOf));
    if (isOver) return;
  }
}

function expectAnswer(tag: FrontendTag | undefined, message: Frame, told: string[]): void {
  const right = tag && answers[tag]?.toLowerCase();
  if (!isWellFormed(tag, message)) expect(told).toEqual(["error"]);
  else if (right) expect([[right], ["error"]]).toContainEqual(told);
  else expect([[], ["error"]]).toContainEqual(told);
}

function isWellFormed(tag: FrontendTag | undefined, message: Frame): boolean {
  if (!tag) return false;
  const given = Object.entries({ session_id: message["sessionId"], ...message });
  return v.is(frontendMessages[tag], Object.fromEntries(given.filter(([, value]) => value != null)));
}

/** All at once; the first one that is not Auth with the right token is answered, and the listener is shut. */
async function beforeAuth(endsInput: boolean, lines: string[]): Promise<void> {
  using wire = await daemon.connect();
  const first = JSON.parse(lines[0]!);
  if (frontendTag(first.type) === "Auth" && first.token === token) return;
  wire.send(`${lines.join("\n")}\n`);
  if (endsInput) wire.endInput();
  await wire.untilClosed();
  expect(wire.frames).toHaveLength(1);
  const [answer] = wire.frames;
  if (/^auth/i.test(answer!["type"])) expect(answer!["ok"]).toBeFalse();
  else expect(answer!["type"]).toMatch(/^error$/i);
  using other = await daemon.connect();
  expect((await other.call("pty.list", {})).sessions.filter(({ state }) => state === "running")).toEqual([]);
}

/** On another connection: nobody's nonsense is another's trouble. */
async function endAll(): Promise<void> {
  using control: Wire = await daemon.connect();
  expect(await control.call("system.ping", {})).toHaveProperty("version");
  const { sessions } = await control.call("pty.list", {});
  const live = sessions.filter(({ state }) => state === "running");
  await Promise.all(live.map(({ session_id }) => control.call("pty.close", { session_id })));
}

// --- What is sent ---

const oddText = fc.constantFrom(
  "",
  "\0",
  "a\0b",
  "\ud800",
  "\udfff\ud800",
  "é😀\u2028",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "\x1b[31m\x03\x04",
  "x".repeat(200_000),
);

const wild = fc.oneof(
  oddText,
  fc.string({ unit: "binary" }),
  fc.jsonValue({ maxDepth: 4 }),
  fc.constantFrom(null, true, 0, -0, -1, 1.5, 1e308, -1e308, 2 ** 53, 2 ** 31, 65_536, 5e-324),
  fc.integer({ min: 1, max: 1000 }).map((depth) => JSON.parse("[".repeat(depth) + "]".repeat(depth))),
  fc
    .constantFrom('{"__proto__":{"isAuthenticated":true}}', '{"constructor":{"prototype":1}}')
    .map((text) => JSON.parse(text)),
);

/** Names that come up again, so that messages meet. */
const ids = fc.constantFrom("fuzz-a", "fuzz-b", "__proto__", "nowhere");
const size = fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 1, max: 300 }) }, wild);

/** A program is started only where it does no harm. */
const shell = fc.oneof(
  fc.constantFrom("/bin/cat", "cat", "/bin/true", "/nonexistent", "/", "", "a\0b", "\ud800", null),
  wild.filter((value) => typeof value !== "string"),
);
const sane = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 4, arbitrary: arbitrary as fc.Arbitrary<unknown> }, wild);

const fields: Record<string, fc.Arbitrary<unknown>> = {
  token: fc.oneof(fc.constant(token), fc.constant(token), wild),
  id: sane(ids),
  session_id: sane(ids),
  sessionId: sane(ids),
  shell,
  cwd: sane(fc.constantFrom("/tmp", "/", "~", "/nonexistent", "relative")),
  env: sane(fc.dictionary(fc.oneof(fc.constantFrom("FUZZ_A", "FUZZ_B"), oddText), sane(fc.constant("x")))),
  cols: size,
  rows: size,
  data: sane(fc.constantFrom("typed\r", "\x04", "Z2VoZQ==")),
  encoding: sane(fc.constantFrom("utf8", "base64")),
};
const fieldNames = Object.keys(fields);

const ownFields = (tag: FrontendTag) => {
  const names = Object.keys(frontendMessages[tag].entries);
  return names.map((name) =>
    name === "session_id" ? fc.constantFrom("session_id", "sessionId") : fc.constant(name),
  );
};

const member = (name: string) =>
  (Object.hasOwn(fields, name) ? fields[name]! : wild).map((value) => [name, value] as [string, unknown]);
const strayName = fc.oneof(fc.constantFrom(...fieldNames, "__proto__", "toString", "type ", "id\0"), oddText);
const stray = strayName.filter((name) => name !== "method" && name !== "type").chain(member);

const tags = Object.keys(frontendMessages) as FrontendTag[];
const message = fc.constantFrom(...tags).chain((tag) => {
  const spelling = fc.constantFrom(
    tag,
    tag.toLowerCase(),
    tag.replaceAll(/(?!^)(?=[A-Z])/g, "_").toLowerCase(),
  );
  const own = ownFields(tag).map((name) => fc.option(name.chain(member), { freq: 6 }));
  return fc.tuple(spelling, fc.tuple(...own), fc.array(stray, { maxLength: 2 }));
});
const nonsense = fc.tuple(fc.oneof(oddText, fc.string()), fc.constant([]), fc.array(stray, { maxLength: 5 }));

/** As text: a name may come twice, and `__proto__` is a name as any other. */
const line = fc.oneof({ weight: 5, arbitrary: message }, nonsense).map(([type, own, strays]) => {
  const members = [["type", type], ...own.filter((one) => one !== null), ...strays] as [string, unknown][];
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(",")}}`;
});
