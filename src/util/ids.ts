/** `s-` or `x-` and eight hex digits, not one of those in use. */
export function newId(prefix: "s" | "x", isTaken: (id: string) => boolean = () => false): string {
  for (;;) {
    const digits = crypto.getRandomValues(new Uint8Array(4)).toHex();
    const id = `${prefix}-${digits}`;
    if (!isTaken(id)) return id;
  }
}
