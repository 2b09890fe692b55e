/** So long that no two clients ever choose the same. */
export const newCommandId = (): string =>
  `x-${[...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
