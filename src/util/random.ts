// Random hex strings, without `node:crypto`: that loads streams, which adds milliseconds to every start.

export const randomHex = (bytes: number): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("hex");
