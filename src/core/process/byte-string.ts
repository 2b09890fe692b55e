// Shell scripts and state reports are bytes: a directory name or a value need not be UTF-8. A ByteString has one byte per
// character (latin1), so that string operations are byte-exact.

export type ByteString = string;

/** ASCII text, which most is, is the same in both encodings. */
const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

export const bytesOf = (text: ByteString): Uint8Array => Buffer.from(text, "latin1");
export const byteStringOf = (bytes: Uint8Array): ByteString => Buffer.from(bytes).toString("latin1");
export const fromText = (text: string): ByteString =>
  isAscii(text) ? text : Buffer.from(text, "utf8").toString("latin1");
export const toText = (bytes: ByteString): string => Buffer.from(bytes, "latin1").toString("utf8");

/** Undefined if the bytes are not UTF-8. */
export function textOf(bytes: ByteString): string | undefined {
  const text = toText(bytes);
  return fromText(text) === bytes ? text : undefined;
}

/** Quotes any bytes as one word of a POSIX-like shell. */
export const quote = (word: ByteString): ByteString => `'${word.replaceAll("'", "'\\''")}'`;
