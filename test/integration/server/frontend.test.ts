// The frontend dialect: nine messages in, seven out, in the client's own spelling, over the same terminals.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Terminal } from "@xterm/headless";
import { startDaemon, type TestDaemon } from "../../support/daemon.ts";
import { isAlive } from "../../support/processes.ts";
import { newSession } from "../../support/session.ts";
import { until } from "../../support/wait.ts";
import type { Frame, Wire } from "../../support/wire.ts";

const token = "the right word";
/** A shell that is the same everywhere and prints no more than it must. */
const plain = { shell: "/bin/sh", env: { PS1: "$ ", ENV: null } };

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startDaemon({ env: { TRL_AUTH_TOKEN: token }, flags: ["--max-sessions", "200"] });
});
afterAll(() => daemon[Symbol.asyncDispose]());

async function frontend(tag = "Auth"): Promise<Wire> {
  const wire = await daemon.connect();
  wire.sendFrame({ type: tag, token });
  await wire.frame((frame) => frame["ok"] === true);
  return wire;
}

/** Its lines in one piece, as a client that does not wait for answers sends them. */
const pipelined = (...frames: unknown[]) => frames.map((frame) => `${JSON.stringify(frame)}\n`).join("");

const ofType = (wire: Wire, type: string) => wire.frames.filter((frame) => frame["type"] === type);

/** Everything that the daemon has to say about what was sent before has arrived with this. */
async function settle(wire: Wire): Promise<void> {
  const before = ofType(wire, "Pong").length;
  wire.sendFrame({ type: "Ping" });
  await until("Pong", () => ofType(wire, "Pong").length > before);
}

/** The answer to one message, sent when nothing else is under way. */
async function ask(wire: Wire, message: Frame): Promise<Frame> {
  const before = wire.frames.length;
  wire.sendFrame(message);
  const isAnswer = (frame: Frame) =>
    wire.frames.indexOf(frame) >= before && frame["type"] !== "SessionOutput";
  return await wire.frame(isAnswer);
}

function bytesOf(wire: Wire, id: string): Buffer {
  const isOutput = (frame: Frame) =>
    /^(?:session_output|SessionOutput)$/.test(frame["type"]) &&
    (frame["session_id"] ?? frame["sessionId"]) === id;
  return Buffer.concat(wire.frames.filter(isOutput).map((frame) => Buffer.from(frame["data"], "base64")));
}

const shows = (wire: Wire, id: string, text: string) =>
  until(`"${text}" in ${id}`, () => bytesOf(wire, id).toString().includes(text));

/** A terminal whose program has printed `ready` and waits for a line. */
async function waiting(wire: Wire, id: string, afterwards: string, more: object = {}): Promise<void> {
  const command = `echo ready; read line; ${afterwards}`;
  await wire.call("pty.create", { session_id: id, shell: "/bin/sh", command, ...more });
  await wire.call("pty.wait", { session_id: id, until: { text: "ready" }, timeout_s: 10 });
}

describe("Auth", () => {
  test.each(["Auth", "auth", "AUTH"])("as %s opens the door", async (tag) => {
    using wire = await frontend(tag);
    wire.sendFrame({ type: "Ping" });
    await wire.frame((frame) => /^pong$/i.test(frame["type"]));
  });

  const refusals: [what: string, first: Frame, answer: Frame][] = [
    ["a wrong token", { type: "Auth", token: "wrong" }, { type: "AuthResult", ok: false }],
    ["an empty token", { type: "auth", token: "" }, { type: "auth_result", ok: false }],
    ["half a token", { type: "Auth", token: token.slice(0, -1) }, { type: "AuthResult", ok: false }],
    ["more than the token", { type: "Auth", token: `${token} ` }, { type: "AuthResult", ok: false }],
    ["no token", { type: "Auth" }, { type: "Error", message: expect.stringMatching(/^token: /) }],
    ["a null", { type: "Auth", token: null }, { type: "Error", message: expect.stringMatching(/^token: /) }],
    ["a number", { type: "Auth", token: 5 }, { type: "Error", message: expect.stringMatching(/^token: /) }],
    [
      "a list",
      { type: "auth", token: [token] },
      { type: "error", message: expect.stringMatching(/^token: /) },
    ],
    [
      "CreateSession",
      { type: "CreateSession", id: "ghost" },
      { type: "Error", message: expect.stringContaining("Auth") },
    ],
    ["ping", { type: "ping" }, { type: "error", message: expect.stringContaining("Auth") }],
    ["an unknown type", { type: "Nonsense" }, { type: "Error", message: expect.stringContaining("Auth") }],
  ];
  test.each(refusals)(
    "%s is answered and shown the door; what is behind it is ignored",
    async (_, first, answer) => {
      using wire = await daemon.connect();
      const right = { type: "Auth", token };
      const request = { id: "1", method: "pty.create", params: { session_id: "ghost" } };
      wire.send(pipelined(first, right, { type: "CreateSession", id: "ghost" }, request));
      await wire.untilClosed();
      expect(wire.frames).toEqual([answer]);
      using other = await frontend();
      await settle(other);
      expect((await other.call("pty.list", {})).sessions.filter((one) => one.session_id === "ghost")).toEqual(
        [],
      );
    },
  );

  test("of one connection is not that of another", async () => {
    using known = await frontend();
    using unknown = await daemon.connect();
    unknown.sendFrame({ type: "ListSessions" });
    await unknown.untilClosed();
    expect(unknown.frames.map((frame) => frame["type"])).toEqual(["Error"]);
    await settle(known);
  });

  test("a second time: the right token is as good as the first, a wrong one ends it", async () => {
    using wire = await frontend();
    expect(await ask(wire, { type: "Auth", token })).toEqual({ type: "AuthResult", ok: true });
    await settle(wire);
    wire.send(pipelined({ type: "Auth", token: "wrong" }, { type: "Ping" }));
    await wire.untilClosed();
    expect(wire.frames.at(-1)).toEqual({ type: "AuthResult", ok: false });
  });

  test("that fails ends a subscription, too, and the terminal lives", async () => {
    using wire = await frontend();
    await waiting(wire, "left", "echo over");
    wire.sendFrame({ type: "Subscribe", session_id: "left" });
    await shows(wire, "left", "ready");
    wire.sendFrame({ type: "Auth", token: 1 });
    await wire.untilClosed();
    expect(wire.frames.at(-1)).toEqual({ type: "Error", message: expect.stringMatching(/^token: /) });
    using other = await daemon.connect();
    const { sessions } = await other.call("pty.list", {});
    expect(sessions.find((one) => one.session_id === "left")).toMatchObject({
      state: "running",
      subscribers: 0,
    });
  });

  const refused: [message: Frame, answer: Frame][] = [
    [
      { type: "Auth", token: "wrong" },
      { type: "AuthResult", ok: false },
    ],
    [{ type: "Ping" }, { type: "Error", message: expect.stringMatching(/^authentication required/) }],
  ];
  test.each(refused)("%j in one piece with what is followed has its answer before the end", async (...it) => {
    const [message, answer] = it;
    using owner = await daemon.connect();
    const { id: session_id } = await newSession(owner);
    const { session_id: terminal } = await owner.call("pty.create", { command: "cat", args: [] });
    const following = {
      "pty.subscribe": { session_id: terminal, replay: "none" },
      "exec.stream": { session_id, command: "read line", open_stdin: true },
    };
    for (const [method, params] of Object.entries(following)) {
      using wire = await daemon.connect();
      wire.send(pipelined({ id: 1, method, params }, message, { id: 2, method: "system.ping" }));
      await wire.untilClosed();
      expect(wire.frames.map(({ id, type }) => id ?? type)).toEqual([1, answer["type"]]);
      expect(wire.frames.at(-1)).toEqual(answer);
    }
    await owner.call("pty.close", { session_id: terminal });
    await owner.call("session.destroy", { session_id, force: true });
  });

  test("that fails ends also what is followed only later", async () => {
    using owner = await daemon.connect();
    const session_id = "later";
    // Its program has ended. What that has left does not hear that it is to end, so that the name is not free yet.
    await owner.call("pty.create", { session_id, command: "trap '' HUP TERM; sleep 1000 & exit 0" });
    await owner.call("pty.wait", { session_id, until: { exit: true }, timeout_s: 15 });
    const creating = owner.request("pty.create", { session_id, command: "echo ready; cat" });
    await owner.call("system.ping", {}); // it is under way
    using wire = await daemon.connect();
    const subscribing = { id: 1, method: "pty.subscribe", params: { session_id, replay: "none" } };
    wire.send(pipelined(subscribing, { type: "Auth", token: "wrong" }));
    await wire.frame(({ type }) => type === "AuthResult");
    expect(await creating).toMatchObject({ ok: true });
    await wire.untilClosed();
    expect(wire.frames.map(({ id, type }) => id ?? type)).toEqual(["AuthResult", 1]);
    await owner.call("pty.close", { session_id });
  });
});

/** One of each, in the spelling that is asked for. */
const spellings = [
  ["Pascal", "session_id"],
  ["Pascal", "sessionId"],
  ["snake", "session_id"],
  ["snake", "sessionId"],
] as const;

describe("all messages and all answers", () => {
  test.each(spellings)("with %s tags and %s", async (tags, field) => {
    const spelt = (tag: string) =>
      tags === "Pascal" ? tag : tag.replaceAll(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
    const exitCode = field === "sessionId" ? "exitCode" : "exit_code";
    const id = `all-${tags}-${field}`;
    using wire = await daemon.connect();
    const send = (tag: string, fields: object = {}) => wire.sendFrame({ type: spelt(tag), ...fields });
    const answer = (tag: string) => wire.frame((frame) => frame["type"] === spelt(tag));

    send("Auth", { token });
    expect(await answer("AuthResult")).toEqual({ type: spelt("AuthResult"), ok: true });
    send("CreateSession", { id, ...plain, cwd: "/", cols: 90, rows: 30 });
    const created = await answer("SessionCreated");
    expect(created[field]).toBe(id);
    expect(isAlive(created["pid"])).toBeTrue();
    send("Subscribe", { [field]: id });
    const output = await answer("SessionOutput");
    expect(Object.keys(output)).toEqual(["type", field, "data"]);
    send("Resize", { [field]: id, cols: 71, rows: 19 });
    send("WriteInput", { [field]: id, data: "stty size; pwd\r" });
    await shows(wire, id, "19 71\r\n/\r\n");
    send("ListSessions");
    const { sessions } = await answer("SessionList");
    expect(sessions.find((one: Frame) => one["id"] === id)).toMatchObject({
      [field]: id,
      pid: created["pid"],
      cols: 71,
      rows: 19,
      cwd: "/",
      shell: "/bin/sh",
    });
    send("Unsubscribe", { [field]: id });
    send("Ping");
    expect(await answer("Pong")).toEqual({ type: spelt("Pong") });
    send("CloseSession", { [field]: id });
    const closed = await answer("SessionClosed");
    expect(closed).toMatchObject({ [field]: id, [exitCode]: 129 });
    expect(isAlive(created["pid"])).toBeFalse();
    send("Nonsense");
    expect(await answer("Error")).toEqual({ type: spelt("Error"), message: expect.any(String) });
    const foreign = field === "sessionId" ? '"session_id"' : '"sessionId"';
    const later = wire.rawLines.slice(wire.rawLines.findIndex((line) => line.includes('"data"')));
    expect(later.filter((line) => line.includes(foreign))).toEqual([]);
  });

  test("until a client has shown how it writes its fields, an answer has both spellings", async () => {
    using wire = await frontend();
    const created = await ask(wire, { type: "CreateSession", id: "both" });
    expect(created).toMatchObject({ type: "SessionCreated", session_id: "both", sessionId: "both" });
  });

  test("the first message decides; a later one in another spelling is understood all the same", async () => {
    using wire = await frontend("auth");
    for (const type of ["Ping", "ping", "PING"]) wire.sendFrame({ type });
    await until("three answers", () => wire.frames.length === 4);
    expect(wire.frames.map((frame) => frame["type"])).toEqual(["auth_result", "pong", "pong", "pong"]);
  });

  test("answers come in the order of the messages, which have no ids", async () => {
    using wire = await daemon.connect();
    wire.send(
      pipelined(
        { type: "Auth", token },
        { type: "CreateSession", id: "in-order", shell: "/bin/cat" },
        { type: "Subscribe", session_id: "in-order" },
        { type: "WriteInput", session_id: "in-order", data: 5 },
        { type: "ListSessions" },
        { type: "CreateSession", id: "in-order" },
        { type: "Ping" },
        { type: "CreateSession", cols: 0 },
        { type: "Nonsense" },
        { type: "Resize", session_id: "nowhere", cols: 1, rows: 1 },
        { type: "Ping" },
      ),
    );
    await until("the last Pong", () => ofType(wire, "Pong").length === 2);
    const answers = wire.frames.filter((frame) => frame["type"] !== "SessionOutput");
    expect(answers.map(({ type, message = "" }) => `${type} ${message.split(" ")[0]}`.trim())).toEqual([
      "AuthResult",
      "SessionCreated",
      "Error data:",
      "SessionList",
      "Error id:",
      "Pong",
      "Error cols:",
      "Error unknown",
      "Error there",
      "Pong",
    ]);
    const first = (type: string) => wire.frames.findIndex((frame) => frame["type"] === type);
    expect(first("SessionOutput")).toBeGreaterThan(first("SessionCreated"));
  });
});

describe("CreateSession", () => {
  test("without anything: an id, the default shell, the home directory, 80 by 24", async () => {
    using wire = await frontend();
    const { session_id: id } = await ask(wire, { type: "CreateSession" });
    expect(id).toMatch(/^s-[0-9a-f]{8}$/);
    const { sessions } = await ask(wire, { type: "ListSessions" });
    expect(sessions.find((one: Frame) => one["id"] === id)).toMatchObject({
      cwd: daemon.dir,
      cols: 80,
      rows: 24,
      alive: true,
    });
  });

  test("where there is no home directory, too", async () => {
    await using homeless = await startDaemon({ env: { HOME: "/nonexistent", TRL_AUTH_TOKEN: token } });
    using wire = await homeless.connect();
    wire.send(pipelined({ type: "Auth", token }, { type: "CreateSession", shell: "/bin/sh" }));
    await until("an answer", () => wire.frames.length === 2);
    expect(wire.frames[1]).toMatchObject({ type: "SessionCreated" });
  });

  test("fields that are null are not given; env is set and unset", async () => {
    using wire = await frontend();
    const env = { ...plain.env, GREETING: "grüße", HOME: null };
    const nothing = { cwd: null, cols: null, rows: null };
    await ask(wire, { type: "CreateSession", id: "env", shell: "/bin/sh", env, ...nothing });
    wire.sendFrame({ type: "Subscribe", session_id: "env" });
    wire.sendFrame({ type: "WriteInput", session_id: "env", data: 'echo "<$GREETING>" "${HOME-unset}"\r' });
    await shows(wire, "env", "<grüße> unset");
  });

  test("an id in use is refused, a terminal's as well as a session's, and the connection lives on", async () => {
    using wire = await frontend();
    const { pid } = await ask(wire, { type: "CreateSession", id: "taken" });
    const session = await newSession(wire);
    for (const id of ["taken", session.id]) {
      const { type, message } = await ask(wire, { type: "CreateSession", id });
      expect([type, message]).toEqual(["Error", `id: ${id} is in use`]);
    }
    await settle(wire);
    expect(isAlive(pid)).toBeTrue();
  });

  test("an id is free again at the end of its terminal, also while leftovers are being ended", async () => {
    using wire = await frontend();
    const stubborn = "sh -c \"trap '' HUP; echo ready; sleep 1000\" & read line; exit 3";
    await wire.call("pty.create", { session_id: "again", command: stubborn });
    await wire.call("pty.wait", { session_id: "again", until: { text: "ready" } });
    wire.sendFrame({ type: "Subscribe", session_id: "again" });
    wire.sendFrame({ type: "WriteInput", session_id: "again", data: "\n" });
    await wire.frame((frame) => frame["type"] === "SessionClosed");
    wire.send(
      pipelined(
        { type: "CreateSession", id: "again", ...plain },
        { type: "Subscribe", session_id: "again" },
        { type: "WriteInput", session_id: "again", data: "echo se''cond\n" },
      ),
    );
    await wire.frame((frame) => frame["type"] === "SessionCreated" && frame["session_id"] === "again");
    await shows(wire, "again", "second");
    expect(ofType(wire, "Error")).toEqual([]);
    wire.sendFrame({ type: "CloseSession", session_id: "again" });
    await until("its end", () => ofType(wire, "SessionClosed").length === 2);
  });

  test("an id is free again when its terminal has ended", async () => {
    using wire = await frontend();
    await ask(wire, { type: "CreateSession", id: "again" });
    await ask(wire, { type: "CloseSession", session_id: "again" });
    expect(await ask(wire, { type: "CreateSession", id: "again" })).toMatchObject({ type: "SessionCreated" });
  });
});

describe("WriteInput", () => {
  test("is text, of any alphabet, in the order of the messages", async () => {
    using wire = await frontend();
    await waiting(wire, "typed", 'printf "%s" "$line" | od -An -v -tx1 | tr -d " \\n"; echo .');
    wire.sendFrame({ type: "Subscribe", session_id: "typed" });
    await shows(wire, "typed", "ready"); // a redraw in the middle of what follows would cut it in two
    const pieces = ["aGk=", " ä", "€", "😀", " 漢字\r"];
    wire.send(pipelined(...pieces.map((data) => ({ type: "WriteInput", session_id: "typed", data }))));
    await shows(wire, "typed", `${Buffer.from("aGk= ä€😀 漢字").toString("hex")}.`);
  });

  test("is bytes where it says base64", async () => {
    using wire = await frontend();
    await waiting(wire, "bytes", 'printf "%s" "$line" | od -An -v -tx1 | tr -d " \\n"; echo .');
    wire.sendFrame({ type: "Subscribe", session_id: "bytes" });
    await shows(wire, "bytes", "ready"); // see above
    const data = Buffer.from("68ff80fe0d", "hex").toString("base64");
    wire.sendFrame({ type: "WriteInput", session_id: "bytes", data, encoding: "base64" });
    await shows(wire, "bytes", "68ff80fe.");
  });

  test("to an ended terminal is an Error", async () => {
    using wire = await frontend();
    await ask(wire, { type: "CreateSession", id: "gone" });
    await ask(wire, { type: "CloseSession", session_id: "gone" });
    const { type, message } = await ask(wire, { type: "WriteInput", session_id: "gone", data: "x" });
    expect([type, message]).toEqual(["Error", expect.stringContaining("gone")]);
    await settle(wire);
  });
});

describe("a bad message gets Error, which names the field, and the connection lives on:", () => {
  test.each<[field: string, message: Frame]>([
    ["id", { type: "CreateSession", id: "../x" }],
    ["id", { type: "CreateSession", id: 7 }],
    ["shell", { type: "CreateSession", shell: "/nonexistent/sh" }],
    ["shell", { type: "CreateSession", shell: "a\0b" }],
    ["cwd", { type: "CreateSession", cwd: "/nonexistent" }],
    ["cwd", { type: "CreateSession", cwd: "relative" }],
    ["cwd", { type: "CreateSession", cwd: {} }],
    ["env", { type: "CreateSession", env: ["A=1"] }],
    ["env.A", { type: "CreateSession", env: { A: 1 } }],
    ["cols", { type: "CreateSession", cols: 0 }],
    ["rows", { type: "CreateSession", rows: 1e9 }],
    ["session_id", { type: "WriteInput", data: "x" }],
    ["session_id", { type: "Subscribe", session_id: 5 }],
    ["session_id", { type: "Subscribe", sessionId: ["x"] }],
    ["data", { type: "WriteInput", session_id: "x" }],
    ["data", { type: "WriteInput", session_id: "bad", data: "no base64!", encoding: "base64" }],
    ["encoding", { type: "WriteInput", session_id: "x", data: "", encoding: "utf7" }],
    ["rows", { type: "Resize", session_id: "x", cols: 1 }],
    ["cols", { type: "Resize", session_id: "x", cols: 1.5, rows: 1 }],
  ])("%s in %j", async (field, message) => {
    using wire = await frontend();
    const answer = await ask(wire, message);
    expect(Object.keys(answer)).toEqual(["type", "message"]);
    expect(answer["type"]).toBe("Error");
    expect(answer["message"]).toStartWith(`${field}: `);
    await settle(wire);
  });

  test.each(["WriteInput", "Resize", "Subscribe", "Unsubscribe", "CloseSession"])(
    "%s for a terminal that is not there, or is none",
    async (type) => {
      using wire = await frontend();
      const session = await newSession(wire);
      for (const session_id of ["nowhere", session.id, "__proto__", "ä\0"]) {
        const answer = await ask(wire, { type, session_id, data: "", cols: 1, rows: 1 });
        expect(answer).toEqual({ type: "Error", message: `there is no terminal ${session_id}` });
      }
      expect(await session.out("echo unharmed")).toBe("unharmed");
    },
  );

  test("a line that cannot be read, in the dialect that the connection speaks", async () => {
    using wire = await frontend();
    for (const line of ["not json", '{"type":5}', "[1]", '{"token":"x"}']) {
      const before = wire.frames.length;
      wire.send(`${line}\n`);
      await until("an answer", () => wire.frames.length > before);
      expect(wire.frames[before]).toEqual({ type: "Error", message: expect.any(String) });
    }
    using other = await daemon.connect();
    other.send(`${pipelined({ type: "Auth", token }, { type: "Ping" })}not json\n`);
    await until("three answers", () => other.frames.length === 3);
    expect(other.frames.map(({ type }) => type)).toEqual(["AuthResult", "Pong", "Error"]);
    await wire.call("system.ping", {});
    const before = wire.frames.length;
    wire.send("not json\n");
    await until("an answer", () => wire.frames.length > before);
    expect(wire.frames[before]).toMatchObject({ id: "unknown", ok: false });
  });

  test("an unknown type, whatever it looks like", async () => {
    using wire = await frontend();
    for (const type of ["", "constructor", "__proto__", "Pïng", "\ud800", "x".repeat(100_000)]) {
      const answer = await ask(wire, { type });
      expect(answer["message"]).toStartWith("unknown message type");
      expect(answer["message"].length).toBeLessThan(100);
    }
    await settle(wire);
  });
});

describe("Subscribe", () => {
  test("shows the screen as it is, then what comes, then the end", async () => {
    using wire = await frontend();
    const draw = "printf '\\033[31mred\\033[0m \\033[7mläuft\\033[0m\\033[12;30Hmiddle 漢\\033[5;1Hready'";
    const command = `seq 1 50; printf '\\033[2J\\033[H'; ${draw}; read line; echo "got $line"; exit 7`;
    await wire.call("pty.create", { session_id: "drawn", shell: "/bin/sh", command, cols: 60, rows: 20 });
    await wire.call("pty.wait", { session_id: "drawn", until: { text: "ready" }, timeout_s: 10 });
    const { lines } = await wire.call("pty.snapshot", { session_id: "drawn" });
    const begin = wire.frames.length;
    wire.sendFrame({ type: "Subscribe", session_id: "drawn" });
    await settle(wire);
    const [redraw, ...others] = ofType(wire, "SessionOutput");
    expect(others).toEqual([]);
    const terminal = new Terminal({ cols: 60, rows: 20, allowProposedApi: true });
    await written(terminal, redraw!);
    expect(textOf(terminal)).toEqual(lines!);
    expect(textOf(terminal)[11]).toBe(`${" ".repeat(29)}middle 漢`);

    wire.sendFrame({ type: "WriteInput", session_id: "drawn", data: "word\r" });
    const closed = await wire.frame((frame) => frame["type"] === "SessionClosed");
    expect(closed).toMatchObject({ session_id: "drawn", exit_code: 7, signal: null });
    expect(wire.frames.at(-1)).toBe(closed);
    for (const frame of ofType(wire, "SessionOutput").slice(1)) await written(terminal, frame);
    expect(textOf(terminal)).toEqual((await wire.call("pty.snapshot", { session_id: "drawn" })).lines!);
    expect(textOf(terminal)).toContain("got word");
    expect(wire.frames.slice(begin).filter((frame) => "offset" in frame)).toEqual([]);
  });

  test("brings the lines above the screen, too", async () => {
    using wire = await frontend();
    const command = "seq 1 300; echo ready; read line";
    await wire.call("pty.create", { session_id: "history", shell: "/bin/sh", command });
    await wire.call("pty.wait", { session_id: "history", until: { text: "ready" }, timeout_s: 10 });
    wire.sendFrame({ type: "Subscribe", session_id: "history" });
    await settle(wire);
    const drawn = bytesOf(wire, "history").toString();
    for (const line of ["1", "150", "300"]) expect(drawn).toMatch(new RegExp(`(?:^|\\D)${line}\r\n`, "m"));
  });

  test("after the end shows the last screen and the code", async () => {
    using wire = await frontend();
    await wire.call("pty.create", { session_id: "late", shell: "/bin/sh", command: "echo bye; exit 5" });
    await wire.call("pty.wait", { session_id: "late", until: { exit: true }, timeout_s: 10 });
    wire.sendFrame({ type: "Subscribe", session_id: "late" });
    const closed = await wire.frame((frame) => frame["type"] === "SessionClosed");
    expect(closed).toMatchObject({ session_id: "late", exit_code: 5 });
    expect(bytesOf(wire, "late").toString()).toContain("bye");
  });

  test("a death by signal is 128 and its number", async () => {
    using wire = await frontend();
    await waiting(wire, "shot", "kill -9 $$");
    wire.send(
      pipelined(
        { type: "Subscribe", session_id: "shot" },
        { type: "WriteInput", session_id: "shot", data: "\r" },
      ),
    );
    const closed = await wire.frame((frame) => frame["type"] === "SessionClosed");
    expect(closed).toMatchObject({ exit_code: 137, signal: "SIGKILL" });
  });

  test("twice is once, with a fresh screen", async () => {
    using wire = await frontend();
    await waiting(wire, "twice", "echo on''ce");
    for (let time = 1; time <= 2; time++) {
      wire.sendFrame({ type: "Subscribe", session_id: "twice" });
      await until("a screen", () => ofType(wire, "SessionOutput").length === time);
    }
    wire.sendFrame({ type: "WriteInput", session_id: "twice", data: "\r" });
    await wire.frame((frame) => frame["type"] === "SessionClosed");
    await settle(wire);
    expect(bytesOf(wire, "twice").toString().match(/once/g)).toHaveLength(1);
    expect(ofType(wire, "SessionClosed")).toHaveLength(1);
  });

  test("the end is told when everything that the program started is dead", async () => {
    using wire = await frontend();
    using method = await daemon.connect();
    const stubborn = "(trap '' HUP TERM; echo pid $(exec sh -c 'echo $PPID') end; exec sleep 1000) &";
    await waiting(wire, "outlived", "exit 5", { command: `${stubborn} echo ready; read line; exit 5` });
    wire.sendFrame({ type: "Subscribe", session_id: "outlived" });
    await shows(wire, "outlived", " end");
    const pid = Number(/pid (\d+) end/.exec(bytesOf(wire, "outlived").toString())![1]);
    await method.call("pty.subscribe", { session_id: "outlived", replay: "none", exit_after_tree: true });
    const seenBy = (closed: Frame) => ({ closed, isAlive: isAlive(pid) });
    const ends = [
      wire.frame((frame) => frame["type"] === "SessionClosed").then(seenBy),
      method.frame((frame) => frame["type"] === "exit").then(seenBy),
    ];
    wire.sendFrame({ type: "WriteInput", session_id: "outlived", data: "\r" });
    const told = { session_id: "outlived", exit_code: 5, signal: null };
    for (const end of await Promise.all(ends)) {
      expect(end.closed).toMatchObject(told);
      expect(end.isAlive).toBeFalse();
    }
  });

  test("clients of any spelling get the same bytes", async () => {
    using pascal = await frontend();
    using snake = await frontend("auth");
    using method = await daemon.connect();
    await waiting(method, "same", "seq 1 30000; exit 0");
    pascal.sendFrame({ type: "Subscribe", session_id: "same" });
    snake.sendFrame({ type: "subscribe", sessionId: "same" });
    await shows(pascal, "same", "ready");
    await shows(snake, "same", "ready");
    const { offset } = await method.call("pty.subscribe", { session_id: "same", replay: "none" });
    const redraw = bytesOf(pascal, "same").length;
    pascal.sendFrame({ type: "WriteInput", session_id: "same", data: "\r" });
    await pascal.frame((frame) => frame["type"] === "SessionClosed");
    await snake.frame((frame) => frame["type"] === "session_closed");
    await method.frame((frame) => frame["type"] === "exit");
    const live = method.frames.filter((frame) => frame["type"] === "output");
    expect(live[0]!["offset"]).toBe(offset);
    const expected = Buffer.concat(live.map((frame) => Buffer.from(frame["data"], "base64")));
    expect(expected.toString()).toContain("\r\n29999\r\n30000\r\n");
    expect(bytesOf(pascal, "same").equals(bytesOf(snake, "same"))).toBeTrue();
    expect(bytesOf(pascal, "same").subarray(redraw).equals(expected)).toBeTrue();
  });
});

describe("Unsubscribe", () => {
  test("stops the output, for this client alone", async () => {
    using leaving = await frontend();
    using staying = await frontend();
    await waiting(leaving, "quiet", "echo more; exit 3");
    for (const wire of [leaving, staying]) wire.sendFrame({ type: "Subscribe", session_id: "quiet" });
    await shows(leaving, "quiet", "ready");
    await shows(staying, "quiet", "ready");
    leaving.sendFrame({ type: "Unsubscribe", session_id: "quiet" });
    await settle(leaving);
    const before = leaving.frames.length;
    staying.sendFrame({ type: "WriteInput", session_id: "quiet", data: "\r" });
    await staying.frame((frame) => frame["type"] === "SessionClosed");
    expect(bytesOf(staying, "quiet").toString()).toContain("more");
    await settle(leaving);
    expect(leaving.frames.slice(before)).toEqual([{ type: "Pong" }]);
  });

  test("without a subscription is nothing", async () => {
    using wire = await frontend();
    await waiting(wire, "never", "true");
    wire.sendFrame({ type: "Unsubscribe", session_id: "never" });
    await settle(wire);
    expect(ofType(wire, "Error")).toEqual([]);
  });
});

describe("CloseSession is answered with SessionClosed exactly once:", () => {
  /** All that could come has come: who destroys it waits for the end, also of what is on its way. */
  async function closings(wire: Wire, id: string): Promise<Frame[]> {
    await wire.frame((frame) => frame["type"] === "SessionClosed" && frame["session_id"] === id);
    await wire.call("session.destroy", { session_id: id });
    await settle(wire);
    return ofType(wire, "SessionClosed").filter((frame) => frame["session_id"] === id);
  }
  const expected = (id: string) => [
    { type: "SessionClosed", session_id: id, exit_code: 129, signal: "SIGHUP" },
  ];

  test("to who watches, and to who does not", async () => {
    using wire = await frontend();
    for (const id of ["watched", "unwatched"]) {
      await waiting(wire, id, "true");
      if (id === "watched") wire.sendFrame({ type: "Subscribe", session_id: id });
      wire.sendFrame({ type: "CloseSession", session_id: id });
      expect(await closings(wire, id)).toEqual(expected(id));
    }
  });

  test("to who watches it while another closes it; the other, too", async () => {
    using watcher = await frontend();
    using closer = await frontend();
    await waiting(closer, "others", "true");
    watcher.sendFrame({ type: "Subscribe", session_id: "others" });
    await shows(watcher, "others", "ready");
    closer.sendFrame({ type: "CloseSession", session_id: "others" });
    expect(await closings(closer, "others")).toEqual(expected("others"));
    expect(await closings(watcher, "others")).toEqual(expected("others"));
  });

  test("to who watches by the other dialect, beside that one's exit", async () => {
    using wire = await frontend();
    for (const isReplaced of [false, true]) {
      const id = `by-method-${isReplaced}`;
      await waiting(wire, id, "true");
      if (isReplaced) wire.sendFrame({ type: "Subscribe", session_id: id });
      await wire.call("pty.subscribe", { session_id: id });
      wire.sendFrame({ type: "CloseSession", session_id: id });
      expect(await closings(wire, id)).toEqual(expected(id));
      const exits = ofType(wire, "exit").filter((frame) => frame["session_id"] === id);
      expect(exits).toHaveLength(1);
    }
  });

  test("to who begins or ceases to watch meanwhile", async () => {
    using wire = await frontend();
    for (const [id, first, then] of [
      ["ceases", "Subscribe", "Unsubscribe"],
      ["begins", "Unsubscribe", "Subscribe"],
    ] as const) {
      // Deaf to the hangup, so that it lives until the grace is over.
      await waiting(wire, id, "true", { command: "trap '' HUP TERM; echo ready; read line; read line" });
      const session_id = id;
      wire.send(
        pipelined(
          { type: first, session_id },
          { type: "CloseSession", session_id },
          { type: then, session_id },
        ),
      );
      const [closed, ...more] = await closings(wire, id);
      expect(closed).toMatchObject({ session_id: id, exit_code: 137 });
      expect(more).toEqual([]);
    }
  });

  test("it does not hold up what comes after it, and everything in the terminal is dead", async () => {
    using wire = await frontend();
    await waiting(wire, "stubborn", "true", {
      command: "trap '' HUP TERM; echo ready; sleep 1000; sleep 1000",
    });
    const { sessions } = await wire.call("pty.list", {});
    const { pid } = sessions.find((one) => one.session_id === "stubborn")!;
    wire.sendFrame({ type: "CloseSession", session_id: "stubborn" });
    await settle(wire);
    expect(ofType(wire, "SessionClosed")).toEqual([]);
    await wire.frame((frame) => frame["type"] === "SessionClosed");
    expect(isAlive(pid)).toBeFalse();
  });

  test("one that has ended is closed again, as it ended", async () => {
    using wire = await frontend();
    await wire.call("pty.create", { session_id: "over", shell: "/bin/sh", command: "exit 4" });
    await wire.call("pty.wait", { session_id: "over", until: { exit: true }, timeout_s: 10 });
    const closed = await ask(wire, { type: "CloseSession", session_id: "over" });
    expect(closed).toEqual({ type: "SessionClosed", session_id: "over", exit_code: 4, signal: null });
  });
});

test("ListSessions leaves exec sessions and ended terminals out", async () => {
  using wire = await frontend();
  const session = await newSession(wire);
  await waiting(wire, "listed", "true");
  await wire.call("pty.create", { session_id: "ended", shell: "/bin/sh", command: "true" });
  await wire.call("pty.wait", { session_id: "ended", until: { exit: true }, timeout_s: 10 });
  const { sessions } = await ask(wire, { type: "ListSessions" });
  const ids = sessions.map((one: Frame) => one["session_id"]);
  expect(ids).toContain("listed");
  expect(ids).not.toContain("ended");
  expect(ids).not.toContain(session.id);
});

describe("both dialects", () => {
  test("share one connection at the same time", async () => {
    using wire = await daemon.connect();
    const session = await newSession(wire); // before Auth: methods need no token here
    await waiting(wire, "fe", "echo from fe; exit 1");
    await waiting(wire, "rpc", "echo from rpc; exit 2");
    wire.send(
      pipelined(
        { type: "Auth", token },
        { type: "Subscribe", session_id: "fe" },
        { id: 1, method: "pty.subscribe", params: { session_id: "rpc", replay: "none" } },
        { id: 2, method: "exec.run", params: { session_id: session.id, command: "echo from exec" } },
        { type: "Nonsense" },
        { id: 3, method: "nonsense" },
        { type: "WriteInput", session_id: "rpc", data: "\r" },
        { id: 4, method: "pty.write", params: { session_id: "fe", data: "\r" } },
      ),
    );
    const closed = await wire.frame((frame) => frame["type"] === "SessionClosed");
    const exit = await wire.frame((frame) => frame["type"] === "exit");
    expect(closed).toMatchObject({ session_id: "fe", exit_code: 1 });
    expect(exit).toMatchObject({ session_id: "rpc", exit_code: 2 });
    expect((await wire.frame((frame) => frame["id"] === 2))["data"].stdout).toBe("from exec\n");
    expect((await wire.frame((frame) => frame["id"] === 3))["ok"]).toBeFalse();
    expect((await wire.frame((frame) => frame["type"] === "Error"))["message"]).toContain("Nonsense");
    expect(bytesOf(wire, "fe").toString()).toContain("from fe");
    const live = wire.frames.filter((frame) => frame["type"] === "output");
    expect(live.every((frame) => frame["session_id"] === "rpc")).toBeTrue();
    expect(Buffer.concat(live.map(({ data }) => Buffer.from(data, "base64"))).toString()).toContain(
      "from rpc",
    );
  });

  test("see the same terminal, whoever made it and whoever types", async () => {
    using wire = await frontend();
    using method = await daemon.connect();
    await ask(wire, { type: "CreateSession", id: "common", ...plain });
    wire.sendFrame({ type: "Subscribe", session_id: "common" });
    await method.call("pty.write", { session_id: "common", data: "echo by''method\r" });
    await shows(wire, "common", "bymethod");
    wire.sendFrame({ type: "WriteInput", session_id: "common", data: "echo by''frontend\r" });
    const until = { text: "byfrontend" };
    const { matched } = await method.call("pty.wait", { session_id: "common", until, timeout_s: 10 });
    expect(matched).toBe("text");
    await method.call("pty.close", { session_id: "common" });
    await wire.frame((frame) => frame["type"] === "SessionClosed");
  });
});

test("a terminal outlives its client, and shows the next one what it has done since", async () => {
  const first = await frontend();
  const { pid } = await ask(first, { type: "CreateSession", id: "survivor", ...plain });
  first.sendFrame({ type: "Subscribe", session_id: "survivor" });
  await shows(first, "survivor", "$ ");
  first.sendFrame({ type: "WriteInput", session_id: "survivor", data: "mark=kept\r" });
  await settle(first);
  first[Symbol.dispose]();

  using second = await frontend("auth");
  second.sendFrame({ type: "list_sessions" });
  const { sessions } = await second.frame((frame) => frame["type"] === "session_list");
  expect(sessions.find((one: Frame) => one["id"] === "survivor")).toMatchObject({ pid });
  second.send(
    pipelined(
      { type: "subscribe", session_id: "survivor" },
      { type: "write_input", session_id: "survivor", data: "echo is-$mark\r" },
    ),
  );
  await shows(second, "survivor", "is-kept");
  expect(isAlive(pid)).toBeTrue();
});

test("half-closed, a client still gets its answers and the output up to the end", async () => {
  using wire = await daemon.connect();
  await waiting(wire, "half", "echo last words; exit 6");
  wire.send(
    pipelined(
      { type: "Auth", token },
      { type: "Subscribe", session_id: "half" },
      { type: "WriteInput", session_id: "half", data: "\r" },
    ),
  );
  wire.endInput();
  await wire.untilClosed();
  expect(wire.frames.at(-1)).toMatchObject({ type: "SessionClosed", exit_code: 6 });
  expect(bytesOf(wire, "half").toString()).toContain("last words");
});

const written = (terminal: Terminal, frame: Frame) =>
  new Promise<void>((resolve) => terminal.write(Buffer.from(frame["data"], "base64"), resolve));

function textOf({ buffer, rows }: Terminal): string[] {
  const { active } = buffer;
  const text = (row: number) => active.getLine(active.baseY + row)?.translateToString(true) ?? "";
  return Array.from({ length: rows }, (_, row) => text(row));
}
