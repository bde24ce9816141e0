/** The pages of `--help`: of the whole program, of a group, of a command. */
import { isGroup, type Example, type Flags, type Route, type Routes } from "./declarations.ts";
import { EXIT, EXIT_MEANINGS } from "./exit-codes.ts";
import type { RoutedCommand } from "./find-route.ts";
import { GLOBAL_FLAGS, LIST_FLAGS } from "./global-flags.ts";
import { argumentForms, flagBrief, flagForm, flagTitle, neededFlags } from "./flag-forms.ts";

export const ROOT_BRIEF = "Encrypted file storage that AI agents can use safely";

const COLUMNS = 80;
/** Lines that people copy are not broken. */
const MOST_COLUMNS = 100;
const HELP_ROW: Row = ["-h, --help", "Print this page"];

type Row = readonly [title: string, text: string];

export function helpPage(routes: Routes, path: readonly string[], routed: RoutedCommand | null): string {
  if (routed !== null) return commandPage(routed);
  let [group, brief]: [Routes, string] = [routes, ROOT_BRIEF];
  for (const word of path) {
    const next = group[word];
    if (next === undefined || !isGroup(next)) break;
    [group, brief] = [next.routes, next.brief];
  }
  return path.length === 0 ? rootPage(routes) : groupPage(group, brief, path);
}

function commandPage({ path, command }: RoutedCommand): string {
  const { brief, description, examples, flags, args, isList } = command;
  const usage = ["coffer", ...path, ...argumentForms(command), ...neededFlags(flags), "[FLAGS]"].join(" ");
  const all = "each" in args ? [args.each] : args;
  return page([
    brief,
    section("USAGE", [`  ${usage}`]),
    ...(description === "" ? [] : [wrapped(description, "")]),
    section("EXAMPLES", examplesOf(examples)),
    section("ARGUMENTS", rows(all.map((one, at): Row => [argumentForms(command)[at] ?? one.name, one.brief]))),
    section("FLAGS", rows([...flagRows(flags), HELP_ROW])),
    section("FLAGS OF EVERY COMMAND", [globalForms(isList), "  coffer --help describes them."]),
  ]);
}

function groupPage(group: Routes, brief: string, path: readonly string[]): string {
  const name = ["coffer", ...path].join(" ");
  return page([
    brief,
    section("USAGE", [`  ${name} COMMAND [FLAGS]`]),
    section("COMMANDS", commandRows(group)),
    `${name} COMMAND --help shows one of them with its examples.`,
  ]);
}

function rootPage(routes: Routes): string {
  return page([
    ROOT_BRIEF,
    section("USAGE", ["  coffer COMMAND [FLAGS]"]),
    section("START", examplesOf(START)),
    section("COMMANDS", commandRows(routes)),
    section(
      "FLAGS OF EVERY COMMAND",
      rows([...flagRows(GLOBAL_FLAGS), ...flagRows(LIST_FLAGS), HELP_ROW, VERSION_ROW]),
    ),
    section("EXIT CODES", rows(exitRows)),
    "A flag wins over the environment, and the environment over the profile.",
    "coffer COMMAND --help shows a command with its examples.",
  ]);
}

const VERSION_ROW: Row = ["-v, --version", "Print the version"];

const START: readonly Example[] = [
  { line: "coffer signup --base-url URL --email EMAIL", does: "make an account" },
  { line: "coffer login --base-url URL", does: "or sign in to yours" },
  { line: 'coffer vaults create "Team"', does: "make a vault (--public: not encrypted)" },
  { line: 'coffer upload report.pdf --vault "Team"', does: "store a file in it" },
  { line: "coffer mcp install --allow DIR", does: "give its tools to an agent" },
  { line: "coffer doctor", does: "find out what is wrong" },
];

const exitRows = Object.entries(EXIT).map(([name, code]): Row => [
  String(code),
  EXIT_MEANINGS[name as keyof typeof EXIT],
]);

const page = (parts: readonly string[]): string => `${parts.filter((part) => part !== "").join("\n\n")}\n`;
const section = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? "" : [title, ...lines].join("\n");

const flagRows = (flags: Flags): Row[] =>
  Object.entries(flags).map(([name, flag]): Row => [flagTitle(name, flag), flagBrief(flag)]);

const globalForms = (isList: boolean): string =>
  wrapped(
    Object.entries({ ...GLOBAL_FLAGS, ...(isList ? LIST_FLAGS : {}) })
      // A flag and its value stay on one line.
      .map(([name, flag]) => flagForm(name, flag).replace(" ", "\u00A0"))
      .join(", "),
    "  ",
  ).replaceAll("\u00A0", " ");

const commandRows = (routes: Routes): string[] =>
  rows(
    Object.entries(routes)
      .filter(([, route]) => isGroup(route) || route.isHidden !== true)
      .map(([name, route]): Row => [name, briefOf(route)]),
  );

const briefOf = (route: Route): string =>
  isGroup(route) ? `${route.brief}: ${Object.keys(route.routes).join(", ")}` : route.brief;

/** A short example has its words beside it, a long one above it. */
function examplesOf(examples: readonly Example[]): string[] {
  const width = Math.max(...examples.map(({ line }) => line.length));
  const beside = examples.map(({ line, does }) => `  ${line.padEnd(width)}  # ${does}`);
  if (beside.every((each) => each.length <= MOST_COLUMNS)) return beside;
  return examples.flatMap(({ line, does }) => [`  # ${does}`, `  ${line}`]);
}

/** Two columns. What does not fit beside its title goes on below. */
function rows(entries: readonly Row[]): string[] {
  const table = entries.map(([title, text]): Row => [title.startsWith("--") ? `    ${title}` : title, text]);
  const width = Math.max(0, ...table.map(([title]) => title.length).filter((length) => length <= 34));
  return table.map(([title, text]) => {
    const lines = wrapped(text, " ".repeat(width + 4)).trimStart();
    return title.length > width ? `  ${title}\n${" ".repeat(width + 4)}${lines}` : `  ${title.padEnd(width)}  ${lines}`;
  });
}

/** Words in lines of at most `COLUMNS`. */
function wrapped(text: string, indent: string): string {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && indent.length + last.length + 1 + word.length <= COLUMNS)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map((line) => indent + line).join("\n");
}
