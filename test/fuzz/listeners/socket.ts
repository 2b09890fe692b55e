// Bytes on the socket: each line has its answer, and nobody else waits for it.
import { expect } from "bun:test";
import type { TestDaemon } from "../../support/daemon.ts";
import { Wire } from "../../support/wire.ts";
import { checkedId, expectedIds, isReply } from "../replies.ts";
import { expectServed } from "../unharmed.ts";

export const maxLineBytes = 16 * 1024;

export async function checkSocket(daemon: TestDaemon, input: Uint8Array): Promise<void> {
  using wire = await Wire.connect(daemon.socketPath);
  wire.send(input);
  await expectServed(daemon);
  wire.endInput();
  await wire.untilClosed();
  expect(wire.rawLines.filter(isReply).map(checkedId).sort()).toEqual(
    expectedIds(input, maxLineBytes).sort(),
  );
}
