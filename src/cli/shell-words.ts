// Quotes words for a POSIX shell.

/** The shell reads the result back as `word`. */
export const quoteWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

export const quoteWords = (words: readonly string[]): string => words.map(quoteWord).join(" ");
