// Random names and words. Not by `node:crypto`: that brings streams along, milliseconds of every start.

export const randomHex = (bytes: number): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("hex");
