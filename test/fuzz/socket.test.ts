// Lines of any kind on the socket, shrunk to the smallest that goes wrong.
import { afterAll, beforeAll, test } from "bun:test";
import { startDaemon, type TestDaemon } from "../support/daemon.ts";
import { fuzzTimeoutMs, holdsForBytes } from "./fuzz.ts";
import { checkSocket, maxLineBytes } from "./listeners/socket.ts";
import { oddLines } from "./odd-json.ts";
import { type Before, before, expectUnharmed } from "./unharmed.ts";

let daemon: TestDaemon;
let earlier: Before;
beforeAll(async () => {
  daemon = await startDaemon({ flags: ["--max-line-bytes", String(maxLineBytes)] });
  earlier = await before(daemon);
});
afterAll(() => daemon[Symbol.asyncDispose]());

test(
  "each line has its answer, whatever else is on the wire",
  async () => {
    await holdsForBytes("socket", oddLines, (input) => checkSocket(daemon, input));
    await expectUnharmed(daemon, earlier);
  },
  fuzzTimeoutMs,
);
