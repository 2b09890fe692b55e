import { describe, expect, test } from "bun:test";
import { TrlError } from "../../../../../src/protocol/errors.ts";
import { readBody } from "../../../../../src/server/transports/http/body.ts";

interface Source {
  request: Request;
  wasCancelled(): boolean;
}

/** A request with a body of the chunks that the function returns; undefined ends it. */
function requestOf(
  next: (count: number) => Uint8Array | undefined | Promise<Uint8Array | undefined>,
): Source {
  let count = 0;
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const piece = await next(count++);
      if (piece) controller.enqueue(piece);
      else controller.close();
    },
    cancel() {
      isCancelled = true;
    },
  });
  return {
    request: new Request("http://localhost/", { method: "POST", body, duplex: "half" } as RequestInit),
    wasCancelled: () => isCancelled,
  };
}

async function refusal(promise: Promise<unknown>): Promise<TrlError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof TrlError) return error;
    throw error;
  }
  throw new Error("it was read");
}

const pieces = (count: number, size: number) => (at: number) =>
  at < count ? new Uint8Array(size) : undefined;

describe("a body", () => {
  test("is joined from its chunks", async () => {
    const { request } = requestOf((at) => (at < 3 ? Buffer.from(`${at},`) : undefined));
    expect(Buffer.from(await readBody(request, 100, 1000)).toString()).toBe("0,1,2,");
  });

  test("may be missing or empty", async () => {
    expect(await readBody(new Request("http://localhost/"), 100, 1000)).toHaveLength(0);
    expect(await readBody(requestOf(() => undefined).request, 100, 1000)).toHaveLength(0);
  });

  test("of exactly the limit is read, one byte more is not", async () => {
    expect(await readBody(requestOf(pieces(10, 10)).request, 100, 1000)).toHaveLength(100);
    expect((await refusal(readBody(requestOf(pieces(10, 10)).request, 99, 1000))).code).toBe(
      "REQUEST_TOO_LARGE",
    );
  });

  test("without end is cancelled at the limit", async () => {
    const source = requestOf(() => new Uint8Array(10));
    expect((await refusal(readBody(source.request, 1000, 10_000))).code).toBe("REQUEST_TOO_LARGE");
    expect(source.wasCancelled()).toBeTrue();
  });

  test("with a content-length above the limit is not read", async () => {
    const headers = { "content-length": "101" };
    const request = new Request("http://localhost/", { method: "POST", body: "x", headers });
    expect((await refusal(readBody(request, 100, 1000))).code).toBe("REQUEST_TOO_LARGE");
  });

  test("that drips is cancelled at the deadline, and so is one that never comes", async () => {
    const dripping = requestOf(async () => {
      await Bun.sleep(5);
      return new Uint8Array(1);
    });
    const silent = requestOf(() => new Promise(() => {}));
    for (const { request, wasCancelled } of [dripping, silent]) {
      const { code, message } = await refusal(readBody(request, 1e6, 60));
      expect([code, message]).toEqual(["INVALID_PARAMS", "the body took too long"]);
      expect(wasCancelled()).toBeTrue();
    }
  });

  test("that breaks off is an error", async () => {
    const { request } = requestOf(() => Promise.reject(new Error("reset")));
    expect((await refusal(readBody(request, 100, 1000))).message).toBe("the body broke off");
  });
});
