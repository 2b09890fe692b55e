// Bytes behind an Auth that was right: whatever they are, each line is answered or needs no answer, and a Ping behind it is.
import { expect } from "bun:test";
import { frontendReplies } from "../../../src/protocol/frontend.ts";
import type { HttpDaemon } from "../../support/http.ts";
import { type Frame, Wire } from "../../support/wire.ts";
import { expectServed } from "../unharmed.ts";

export async function checkFrontend(daemon: HttpDaemon, input: Uint8Array): Promise<void> {
  using wire = await Wire.connect(daemon.socketPath);
  wire.sendFrame({ type: "Auth", token: daemon.token });
  await wire.frame(({ type }) => type === "AuthResult");
  wire.send(input);
  wire.send('\n{"type":"Ping"}\n');
  wire.endInput();
  await expectServed(daemon);
  await wire.untilClosed();
  const isHungUp = wire.frames.some(({ type, ok }) => type === "AuthResult" && ok === false);
  for (const frame of wire.frames) expectFrame(frame);
  // An Auth that is wrong or none ends the conversation, and says so.
  if (!isHungUp && !/"(?:type|auth)"\s*:\s*"auth"/i.test(Buffer.from(input).toString("latin1")))
    expect(wire.frames.map(({ type }) => type)).toContain("Pong");
}

function expectFrame(frame: Frame): void {
  if ("id" in frame) expect([true, false]).toContain(frame["ok"]);
  else expect([...frontendReplies]).toContain(frame["type"]);
}
