/** To ask for them one by one takes as long as everything else about an id. */
const random = new Uint32Array(64);
let used = random.length;

/** `s-` or `x-` and eight hex digits, not one of those in use. */
export function newId(prefix: "s" | "x", isTaken: (id: string) => boolean = () => false): string {
  for (;;) {
    if (used === random.length) {
      crypto.getRandomValues(random);
      used = 0;
    }
    const id = `${prefix}-${random[used++]!.toString(16).padStart(8, "0")}`;
    if (!isTaken(id)) return id;
  }
}
