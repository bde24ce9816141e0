/** Which command a line means, before any of it is parsed. */
import { isGroup, type Command, type Route, type Routes } from "./declarations.ts";
import { GLOBAL_FLAGS } from "./global-flags.ts";
import { kebab } from "./flag-forms.ts";

/** A command, and the words that lead to it. */
export interface RoutedCommand {
  readonly path: readonly string[];
  readonly command: Command;
}

export interface RoutedLine {
  /** The words in the order that the framework takes: the command, then the flags. */
  readonly words: readonly string[];
  /** Null: help, a group, or a word that is no command. */
  readonly routed: RoutedCommand | null;
  /** The words that lead to a group or a command. */
  readonly path: readonly string[];
  /** The group that the line ends at, if it names no command. */
  readonly group: readonly string[] | null;
}

/** Loads the command that the line means. `coffer --json vaults list` and `coffer help vaults list` are taken too. */
export async function findRoute(routes: Routes, typed: readonly string[]): Promise<RoutedLine> {
  const ordered = typed[0] === "help" ? [...typed.slice(1), "--help"] : typed;
  const [before, words] = leadingFlags(ordered);
  const path: string[] = [];
  let [within, load]: [Routes | null, (() => Promise<{ readonly default: Command }>) | null] = [routes, null];
  for (const word of words) {
    const next: Route | undefined = within !== null && Object.hasOwn(within, word) ? within[word] : undefined;
    if (next === undefined) break;
    path.push(word);
    [within, load] = isGroup(next) ? [next.routes, null] : [null, next.load];
    if (load !== null) break;
  }
  const remaining = words.slice(path.length);
  if (load === null) {
    const endsHere = remaining.every((word) => word.startsWith("-")) && !remaining.some((word) => HELP.test(word));
    return { words: [...path, ...remaining], path, routed: null, group: endsHere ? path : null };
  }
  const { default: command } = await load();
  return { words: [...path, ...before, ...remaining], path, routed: { path, command }, group: null };
}

const HELP = /^(-h|--help|-v|--version)$/;

/** The flags of every command may come before its name. */
function leadingFlags(words: readonly string[]): [before: readonly string[], rest: readonly string[]] {
  let at = 0;
  while (at < words.length) {
    const flag = GLOBALS.get((words[at] ?? "").replace(/=.*$/, ""));
    if (flag === undefined) break;
    at += flag.kind === "switch" || words[at]?.includes("=") === true ? 1 : 2;
  }
  return [words.slice(0, at), words.slice(at)];
}

const GLOBALS = new Map(Object.entries(GLOBAL_FLAGS).map(([name, flag]) => [`--${kebab(name)}`, flag]));
