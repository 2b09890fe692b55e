// Inputs that have gone wrong somewhere, or could: each file holds the bytes that are sent. Where its name begins with
// `refused-`, nothing may be carried out; with `answered-`, it must be.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type HttpDaemon, startHttp } from "../support/http.ts";
import { checkFrontend } from "./listeners/frontend.ts";
import { checkHttp } from "./listeners/http.ts";
import { checkSocket, maxLineBytes } from "./listeners/socket.ts";
import { checkWebSocket } from "./listeners/websocket.ts";
import { type Before, before, expectUnharmed } from "./unharmed.ts";

const corpus = join(import.meta.dir, "corpus");
/** What the files of the HTTP listener say. */
const token = "token-of-the-corpus";

let daemon: HttpDaemon;
let earlier: Before;
beforeAll(async () => {
  const flags = ["--shell", "/bin/sh", "--max-line-bytes", String(maxLineBytes), "--max-sessions", "6"];
  daemon = await startHttp({ flags, env: { TRL_AUTH_TOKEN: token } });
  earlier = await before(daemon);
});
afterAll(() => daemon[Symbol.asyncDispose]());

const checks: Record<string, (name: string, input: Uint8Array) => Promise<void>> = {
  socket: (_, input) => checkSocket(daemon, input),
  frontend: (_, input) => checkFrontend(daemon, input),
  websocket: (_, input) => checkWebSocket(daemon, input),
  async http(name, input) {
    const { statuses } = await checkHttp(daemon, input);
    if (name.startsWith("refused-")) expect(statuses.filter((status) => status < 400)).toEqual([]);
    if (name.startsWith("answered-")) expect(statuses).toContain(200);
  },
};

for (const [listener, check] of Object.entries(checks)) {
  const names = readdirSync(join(corpus, listener)).sort();
  for (const name of names)
    test(`${listener}: ${name}`, () => check(name, readFileSync(join(corpus, listener, name))));
}

test("all of them together have done no harm", () => expectUnharmed(daemon, earlier));
