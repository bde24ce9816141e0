/** The options of a command, as `node:util` reads them. */
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { type OperatorCommand, UsageError } from "./command.ts";

export const TEXT = { type: "string" } as const;
export const FLAG = { type: "boolean" } as const;

export function read<const Known extends ParseArgsOptionsConfig>(
  command: OperatorCommand,
  words: readonly string[],
  options: Known,
  places = 0,
) {
  try {
    const parsed = parseArgs({ args: [...words], options, strict: true, allowPositionals: places > 0 });
    if (parsed.positionals.length <= places) return parsed;
  } catch (error) {
    throw usageError(command, error instanceof Error ? error.message : String(error));
  }
  throw usageError(command, "too many words");
}

export function usageError({ words, options }: OperatorCommand, problem: string): UsageError {
  return new UsageError(`${words}: ${problem}\nUsage: coffer-server ${words} ${options}`);
}
