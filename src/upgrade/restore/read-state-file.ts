// Reads the state file of the previous executable, and checks the state document in it.
import { fstatSync, readSync } from "node:fs";
import * as v from "valibot";
import { Instant, steadyMs } from "../../core/lifetime/instant.ts";
import { StateDocument } from "../schema/document.ts";
import type { Bytes, Unpacking } from "../schema/fields.ts";
import { additions, requireReadable } from "../schema/versions.ts";
import { headerBytes } from "../serialize/state-file.ts";

/** Upper bound for the gap in documents without a steady time, where the wall clock may have been set meanwhile. */
const gapMaxMs = 60_000;

export interface ReceivedState {
  document: StateDocument;
  unpacking: Unpacking;
}

/** Throws if the file is incomplete, or if this program cannot read its document. */
export function readStateFile(fd: number): ReceivedState {
  const read = ({ at, length }: Bytes) => {
    const piece = new Uint8Array(length);
    for (let done = 0; done < length; ) {
      const count = readSync(fd, piece, done, length - done, at + done);
      if (count === 0) throw new Error("the state file is incomplete");
      done += count;
    }
    return piece;
  };
  const at = Number(Buffer.from(read({ at: 0, length: headerBytes })).readBigUInt64LE());
  const document = parseDocument(Buffer.from(read({ at, length: fstatSync(fd).size - at })).toString());
  const { steadyMs: writtenMs } = new Instant(document.writtenAt, document.writtenSteadyMs);
  const gapMs = Math.min(Math.max(0, steadyMs() - writtenMs), gapMaxMs);
  return { document, unpacking: { bytes: read, gapMs } };
}

export function parseDocument(text: string, table = additions): StateDocument {
  const value: unknown = JSON.parse(text);
  requireReadable((value as { format?: unknown } | null)?.format, table);
  const result = v.safeParse(StateDocument, value);
  if (result.success) return result.output;
  // The path alone: the value may be a secret.
  const [issue] = result.issues;
  throw new Error(`the state document is invalid at ${v.getDotPath(issue) ?? "its top level"}`);
}
