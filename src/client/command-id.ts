/** Random. The client chooses the id, so it finds the command again even if the reply is lost. */
export const newCommandId = (): string =>
  `x-${[...crypto.getRandomValues(new Uint8Array(6))].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
