// Strings that many hold, held once. A piece of a larger text would also keep that text.

const wordsMax = 10_000;
const known = new Map<string, string>();

export function intern(word: string): string {
  const one = known.get(word);
  if (one !== undefined) return one;
  if (known.size >= wordsMax) known.clear();
  const own = Buffer.from(word, "utf8").toString("utf8");
  known.set(own, own);
  return own;
}
