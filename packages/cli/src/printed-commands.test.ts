/**
 * Every command that a text of the sources or of the pages names can be pasted: the command line's own parser takes it, with its flags and its
 * arguments. What commands print at run time is read in the same way, wherever a test runs one (test/kit/coffer.ts), and
 * `npm run check:pages` pastes it.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";
import { blocksOf, PAGES, ROOT } from "../../../dev/scripts/pages/documents.ts";
import { listCommands } from "./command-list.ts";
import { GLOBAL_FLAGS, LIST_FLAGS } from "./global-flags.ts";
import { kebab } from "./flag-forms.ts";
import { printedCommands, type PrintedCommand } from "./printed-commands.ts";
import { ROUTES } from "./routes.ts";

/** Lines that no page and no help shows, and the test that runs each. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "chain import --replace": "test/cli/signing-in.test.ts",
  "changes --after": "test/cli/files.test.ts",
  "config set --lost-keys": "test/cli/keychain.test.ts",
  "sessions list --cursor": "test/cli/signing-in.test.ts",
};
/** Each command has these, and their own tests. */
const OF_EVERY_COMMAND = Object.keys({ ...GLOBAL_FLAGS, ...LIST_FLAGS }).map((name) => `--${kebab(name)}`);

interface Found extends PrintedCommand {
  /** Where the text is. */
  readonly place: string;
}

const sources = globSync(["packages/{cli,mcp,tasks,sdk}/src/**/*.ts", "dev/{devstack,localnet}/src/**/*.ts"], {
  cwd: ROOT,
  exclude: ["**/*.test.ts"],
});
const texts = sources.flatMap(textsOf);
const inSources = (await Promise.all(texts.map(commandsOf))).flat();
const inPages = (await Promise.all(PAGES.map(commandsOfProse))).flat();

it("is complete where a text names it [issue 49]", () => {
  expect(inSources.length).toBeGreaterThan(300);
  expect(inPages.length).toBeGreaterThan(10);
  const broken = [...inSources, ...inPages].filter(
    ({ problem, isName, after }) => problem !== null || (isName && !/^ [a-z]/.test(after)),
  );
  expect(broken.map(({ place, line, problem }) => `${place}: ${line}: ${String(problem)}`)).toEqual([]);
});

it("may have a word that the reader puts in, where a command's name stands, too", async () => {
  const printed = await printedCommands("coffer folders COMMAND [FLAGS]\ncoffer folders no-such\ncoffer ls VAULT:");
  expect(printed.map(({ problem }) => problem)).toEqual([null, expect.stringContaining("no-such"), null]);
});

it("is run with these flags by a page, or as an example of its help [issue 49]", async () => {
  const places = await listCommands(ROUTES);
  const examples = places.flatMap(({ command }) => command.examples.map(({ line }) => line));
  const pasted = PAGES.flatMap((page) => blocksOf(page)).map(({ code }) => code);
  const run = (await printedCommands([...examples, ...pasted].join("\n"))).map(shapeOf);
  const printed = inSources.filter(({ isName, words }) => !isName && !words.includes("--help"));
  const missing = printed
    .map(shapeOf)
    .filter(
      ({ path, flags }) =>
        !run.some((other) => other.path === path && flags.every((flag) => other.flags.includes(flag))),
    );
  expect([...new Set(missing.map(({ path, flags }) => [path, ...flags].join(" ")))].toSorted()).toEqual(
    Object.keys(ELSEWHERE),
  );
});

it("is a script of the repository where it is npm's [issue 49]", () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: object };
  const named = texts.flatMap(({ place, text }) =>
    [...text.matchAll(/\bnpm (?:-\S+ )*run (?:-\S+ )*([a-z][\w:-]*)/g)].map(([, name = ""]) => ({ place, name })),
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter(({ name }) => !Object.hasOwn(scripts, name))).toEqual([]);
});

function shapeOf({ path, words }: PrintedCommand): { readonly path: string; readonly flags: readonly string[] } {
  const flags = words.filter((word) => /^--[a-z]/.test(word)).map((word) => word.replace(/=.*/, ""));
  return { path: path.join(" "), flags: flags.filter((flag) => !OF_EVERY_COMMAND.includes(flag)) };
}

interface Text {
  readonly place: string;
  readonly text: string;
}

/** The strings of a file. What is put into one is a word of its own. */
function textsOf(file: string): Text[] {
  const source = ts.createSourceFile(file, readFileSync(join(ROOT, file), "utf8"), ts.ScriptTarget.Latest, true);
  const found: Text[] = [];
  const visit = (node: ts.Node): void => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    const place = `${file}:${String(line + 1)}`;
    if (ts.isStringLiteralLike(node)) found.push({ place, text: node.text });
    if (ts.isTemplateExpression(node)) {
      const parts = [node.head, ...node.templateSpans.map(({ literal }) => literal)];
      found.push({ place, text: parts.map(({ text }) => text).join("VALUE") });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

async function commandsOf({ place, text }: Text): Promise<Found[]> {
  return (await printedCommands(text)).map((each) => ({ ...each, place }));
}

/** Between back ticks in a page's sentences and tables. */
async function commandsOfProse(page: string): Promise<Found[]> {
  const prose = readFileSync(join(ROOT, page), "utf8").replaceAll(/^```[\s\S]*?^```$/gm, "");
  const spans = [...prose.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text.replaceAll("\n", " "));
  const found = await printedCommands(spans.join("\n"));
  // A name alone is a name: what it takes is in its help.
  return found.filter(({ path, words }) => words.length > path.length).map((each) => ({ ...each, place: page }));
}
