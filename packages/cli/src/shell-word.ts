/** One word of a POSIX shell. */
export const shellWord = (text: string): string =>
  /^[\w@%+:,./-][\w@%+=:,./~-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** A flag with its value. `=` keeps a value that begins with a dash from being read as a flag. */
export const flagWord = (flag: string, value: string): string =>
  `${flag}${value.startsWith("-") ? "=" : " "}${shellWord(value)}`;

/** An argument at the end of a line. `--` keeps one that begins with a dash from being read as a flag. */
export const argumentWord = (text: string): string =>
  text.startsWith("-") ? `-- ${shellWord(text)}` : shellWord(text);
