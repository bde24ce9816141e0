/** How flags and arguments are written, on help pages and on the manual page. */
import type { Command, Flag, Flags } from "./declarations.ts";

export const kebab = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Such as `-r, --recursive` or `--limit N`. */
export function flagTitle(name: string, flag: Flag<unknown>): string {
  return `${flag.letter === undefined ? "" : `-${flag.letter}, `}${flagForm(name, flag)}`;
}

export function flagForm(name: string, { kind, placeholder, values }: Flag<unknown>): string {
  // Without a placeholder of its own a value is called as its flag: --name NAME.
  const value =
    kind === "switch" ? "" : ` ${values?.join("|") ?? placeholder ?? name.replace(/^.*(?=[A-Z])/, "").toUpperCase()}`;
  return `--${kebab(name)}${value}`;
}

export function flagBrief({ kind, brief, isRequired }: Flag<unknown>): string {
  const more = [
    ...(isRequired === true ? ["needed"] : []),
    ...(kind === "texts" || kind === "verbatim" ? ["repeatable"] : []),
  ];
  return more.length === 0 ? brief : `${brief} (${more.join(", ")})`;
}

/** Flags that a line cannot do without, as they are typed. */
export const neededFlags = (flags: Flags): string[] =>
  Object.entries(flags).flatMap(([name, flag]) => (flag.isRequired === true ? [flagForm(name, flag)] : []));

export function argumentForms({ args }: Pick<Command, "args">): string[] {
  const form = (name: string, isOptional = false): string =>
    isOptional ? `[${name.toUpperCase()}]` : name.toUpperCase();
  if ("each" in args) return [`${form(args.each.name, args.least === 0)}...`];
  return args.map(({ name, isOptional }) => form(name, isOptional));
}
