// Base64 on every platform of the client: the engine's own methods, Buffer in Node.js, otherwise btoa and atob.

interface Base64Bytes extends Uint8Array<ArrayBuffer> {
  toBase64(): string;
}
interface Base64Constructor {
  fromBase64(text: string): Uint8Array<ArrayBuffer>;
}

const hasMethods = "toBase64" in Uint8Array.prototype && "fromBase64" in Uint8Array;

export function toBase64(bytes: Uint8Array): string {
  if (hasMethods) return (bytes as Base64Bytes).toBase64();
  if (typeof Buffer !== "undefined")
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  let binary = "";
  for (let at = 0; at < bytes.length; at += pieceBytes)
    binary += String.fromCharCode(...bytes.subarray(at, at + pieceBytes));
  return btoa(binary);
}

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  if (hasMethods) return (Uint8Array as unknown as Base64Constructor).fromBase64(text);
  if (typeof Buffer !== "undefined") return new Uint8Array(Buffer.from(text, "base64"));
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** A number of arguments that every engine accepts. */
const pieceBytes = 8192;
