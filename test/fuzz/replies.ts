// What must hold for the answers to bytes of any kind: each line one, and of the shape that the protocol gives it.
import { expect } from "bun:test";
import { errorCodes } from "../../src/protocol/errors.ts";

const replyShape = /^\{"id":("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*),("ok":(?:true,"data":|false,"error":).*)\}$/s;

/** Frames of a stream or a terminal follow the reply to exec.stream or pty.subscribe. */
export const isReply = (line: string) => !/^\{"(?:stream|session)_id":/.test(line);

/** Checks one reply line and gives its id, a number as `Number` reads it. */
export function checkedId(line: string): string {
  const [, id, rest] = replyShape.exec(line) ?? [];
  if (id === undefined || rest === undefined)
    throw new Error(`not the shape of a reply: ${line.slice(0, 500)}`);
  const reply = JSON.parse(`{${rest}}`);
  expect(JSON.stringify(reply)).toBe(`{${rest}}`); // compact
  expect(Object.keys(reply)).toEqual(["ok", reply.ok ? "data" : "error"]);
  if (!reply.ok) {
    const { code, message, data, ...others } = reply.error;
    expect(others).toEqual({});
    expect(typeof message).toBe("string");
    expect(Object.keys(errorCodes)).toContain(code);
    expect(`${code}: ${line.slice(0, 500)}`).not.toStartWith("INTERNAL_ERROR");
  }
  return String(JSON.parse(id));
}

/** The ids that must be answered: of what is a request its own, of all else "unknown". */
export function expectedIds(input: Uint8Array, maxLineBytes: number): string[] {
  const ids: string[] = [];
  const lines = Buffer.from(input).toString("latin1").split("\n");
  for (const line of lines.map((text) => text.replace(/\r$/, ""))) {
    if (/^[ \t]*$/.test(line)) continue;
    ids.push(line.length > maxLineBytes ? "unknown" : idOf(Buffer.from(line, "latin1")));
  }
  return ids;
}

/** What a request's answer must have: its own id, or "unknown" where it is none. */
export function idOf(line: Uint8Array): string {
  try {
    const { id, method } = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(line));
    const isRequest = typeof method === "string" && (typeof id === "string" || typeof id === "number");
    return isRequest ? String(id) : "unknown";
  } catch {
    return "unknown";
  }
}
