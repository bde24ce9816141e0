/** One word of a POSIX shell. */
export const shellWord = (text: string): string =>
  /^[\w@%+:,./-][\w@%+=:,./~-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
