/** Chosen here, so that a command is found again though the reply was lost; so long that no two are ever the same. */
export const newCommandId = (): string =>
  `x-${[...crypto.getRandomValues(new Uint8Array(6))].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
