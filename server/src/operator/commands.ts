/** What an operator does at the shell beside running the server: one word group each, on the server's own configuration. */
import { auditVerify } from "./audit-verify.ts";
import type { OperatorCommand } from "./command.ts";

export { type OperatorCommand, type Streams, UsageError } from "./command.ts";

const COMMANDS: readonly OperatorCommand[] = [auditVerify];

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
