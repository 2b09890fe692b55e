// Bytes on a connection of the HTTP listener: what comes back is HTTP, of known kinds, and the daemon serves others meanwhile.
import { expect } from "bun:test";
import { errorCodes } from "../../../src/protocol/errors.ts";
import { type HttpDaemon, RawClient } from "../../support/http.ts";
import { expectServed } from "../unharmed.ts";

const statuses = [
  ...new Set([
    100,
    101,
    200,
    204,
    403,
    404,
    405,
    431,
    505,
    ...Object.values(errorCodes).map(({ http }) => http),
  ]),
];

export interface Heard {
  statuses: number[];
  isClosed: boolean;
  text: string;
}

/** Sends them, and gives what has come of it when others have been served twice. */
export async function checkHttp(daemon: HttpDaemon, input: Uint8Array): Promise<Heard> {
  using client = await RawClient.connect(daemon.port);
  client.send(input);
  for (let others = 0; others < 2; others++) {
    await expectServed(daemon);
    expect((await daemon.get("/healthz")).status).toBe(200);
  }
  const text = client.received;
  // A response may be whole, or on its way; but nothing stands between two of them.
  expect(text === "" || text.startsWith("HTTP/1.1 ")).toBeTrue();
  const found = [...text.matchAll(/(?:^|[}\]\n])HTTP\/1\.1 (\d{3})[^\r\n]*\r\n/g)].map(([, status]) =>
    Number(status),
  );
  for (const status of found) expect(statuses).toContain(status);
  expect(found).not.toContain(errorCodes.INTERNAL_ERROR.http);
  return { statuses: found, isClosed: client.isClosed, text };
}
