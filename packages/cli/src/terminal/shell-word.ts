/** One word of a line that is printed to be pasted into a shell of POSIX. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
