/** A word as a shell reads it back unchanged. */
export const quoteWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

export const quoteWords = (words: readonly string[]): string => words.map(quoteWord).join(" ");
