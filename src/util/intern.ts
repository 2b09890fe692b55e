// Strings that many hold, held once. A piece of a larger text would also keep that text.

const wordsMax = 10_000;
const known = new Map<string, string>();

export function intern(word: string): string {
  const one = known.get(word);
  if (one !== undefined) return one;
  if (known.size >= wordsMax) known.clear();
  const own = copyOf(word);
  known.set(own, own);
  return own;
}

const listsMax = 1000;
/** Longer ones are nobody else's, and would be held after their holder is gone. */
const listMaxChars = 16 * 1024;
const knownLists = new Map<string, readonly string[]>();

/** The same for lists of words, none of which holds a NUL. */
export function internList(words: readonly string[]): readonly string[] {
  const text = `${words.length} ${words.join("\0")}`;
  if (text.length > listMaxChars) return words.map(copyOf);
  const one = knownLists.get(text);
  if (one !== undefined) return one;
  if (knownLists.size >= listsMax) knownLists.clear();
  const own = Object.freeze(words.map(intern));
  knownLists.set(copyOf(text), own);
  return own;
}

const copyOf = (text: string): string => Buffer.from(text, "utf8").toString("utf8");
