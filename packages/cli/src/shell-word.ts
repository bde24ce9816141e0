/** One word of a POSIX shell. */
export const shellWord = (text: string): string =>
  /^[\w@%+:,./-][\w@%+=:,./~-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** A flag with its value: one that begins with a dash is no flag of its own. */
export const flagWord = (flag: string, value: string): string =>
  `${flag}${value.startsWith("-") ? "=" : " "}${shellWord(value)}`;

/** The last words of a line. */
export const argumentWord = (text: string): string =>
  text.startsWith("-") ? `-- ${shellWord(text)}` : shellWord(text);
