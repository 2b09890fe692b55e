/** `s-` or `x-` and eight random hex digits, of an id that is not in use. */
export function newId(prefix: "s" | "x", isTaken: (id: string) => boolean = () => false): string {
  for (;;) {
    const id = `${prefix}-${crypto.randomUUID().slice(0, 8)}`;
    if (!isTaken(id)) return id;
  }
}
