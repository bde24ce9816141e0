/** What an operator does at the shell beside running the server: one word group each, on the server's own configuration. */
import type { Config } from "../config.ts";

/** Where a command writes: results on `out`, what it has to say about them on `note`. */
export interface Streams {
  out(text: string): void;
  note(text: string): void;
}

export interface OperatorCommand {
  /** The words that name it: `access-codes create`. */
  readonly words: string;
  /** Its options, as the usage shows them. */
  readonly options: string;
  readonly about: string;
  /** Resolves with the exit status. Throws {@link UsageError} for options it does not know. */
  run(config: Config, options: readonly string[], streams: Streams): Promise<number>;
}

/** The words cannot be read; the message says what is expected. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

const COMMANDS: readonly OperatorCommand[] = [];

/** The command that `words` begins with, and the words after it; null when there is none. */
export function findCommand(
  words: readonly string[],
): { readonly command: OperatorCommand; readonly options: readonly string[] } | null {
  for (const command of COMMANDS) {
    const name = command.words.split(" ");
    if (name.every((word, index) => words[index] === word)) return { command, options: words.slice(name.length) };
  }
  return null;
}

/** For `--help`. */
export function renderCommands(): string {
  return COMMANDS.map(({ words, options, about }) => `  ${`${words} ${options}`.trim()}\n      ${about}\n`).join("");
}
