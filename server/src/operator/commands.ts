/** What an operator does at the shell beside running the server: one word group each, on the server's own configuration. */
import { createAccessCodes, listAllAccessCodes, revokeAccessCodes } from "./access-codes.ts";
import { adoptStore } from "./adopt.ts";
import { auditVerify } from "./audit-verify.ts";
import { backUp } from "./backup.ts";
import { confirmClockNow } from "./clock.ts";
import type { OperatorCommand } from "./command.ts";
import { addJwtKey, dropJwtKeys, promoteJwtKey } from "./jwt-keys.ts";
import { moveData } from "./move.ts";
import { listOfQuarantine, purgeOfQuarantine, restoreOfQuarantine } from "./quarantine.ts";
import { restore } from "./restore.ts";
import { sweepStore } from "./sweep.ts";
import { deleteVaults } from "./vaults.ts";

export { type OperatorCommand, type Streams, UsageError } from "./command.ts";

const COMMANDS: readonly OperatorCommand[] = [
  createAccessCodes,
  listAllAccessCodes,
  revokeAccessCodes,
  auditVerify,
  backUp,
  restore,
  deleteVaults,
  adoptStore,
  moveData,
  sweepStore,
  listOfQuarantine,
  restoreOfQuarantine,
  purgeOfQuarantine,
  confirmClockNow,
  addJwtKey,
  promoteJwtKey,
  dropJwtKeys,
];

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

/** For `--help`: the commands that begin with the given words, or all of them when none does. */
export function renderCommands(words: readonly string[] = []): string {
  const asked = COMMANDS.filter((command) => isPrefix(words, command.words.split(" ")));
  return (asked.length === 0 ? COMMANDS : asked)
    .map((command) => `  ${`${command.words} ${command.options}`.trim()}\n      ${command.about}\n`)
    .join("");
}

/** Whether the words name a command or a group of them. */
export function isCommandGroup(words: readonly string[]): boolean {
  return words.length > 0 && COMMANDS.some((command) => isPrefix(words, command.words.split(" ")));
}

function isPrefix(words: readonly string[], name: readonly string[]): boolean {
  return words.every((word, index) => name[index] === word);
}
