// Bounded caches that share equal strings and lists between sessions. The cached string is a copy: the engine's substring
// of a larger text would keep that text in memory.

const stringsMax = 10_000;
const strings = new Map<string, string>();

export function intern(word: string): string {
  const cached = strings.get(word);
  if (cached !== undefined) return cached;
  if (strings.size >= stringsMax) strings.clear();
  const own = copyOf(word);
  strings.set(own, own);
  return own;
}

const listsMax = 1000;
/** Longer lists are rarely equal, and the cache would hold them after their session has ended. */
const listMaxChars = 16 * 1024;
const lists = new Map<string, readonly string[]>();

/** The same for lists of strings without NUL. */
export function internList(words: readonly string[]): readonly string[] {
  const text = `${words.length} ${words.join("\0")}`;
  if (text.length > listMaxChars) return words.map(copyOf);
  const cached = lists.get(text);
  if (cached !== undefined) return cached;
  if (lists.size >= listsMax) lists.clear();
  const own = Object.freeze(words.map(intern));
  lists.set(copyOf(text), own);
  return own;
}

const copyOf = (text: string): string => Buffer.from(text, "utf8").toString("utf8");
