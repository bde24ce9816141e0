import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commentsOf, sayingsOf } from "./comments.ts";
import { hardSentences, sentencesOf } from "./prose.ts";

const ROOT = join(import.meta.dirname, "../..");
/** All pages that people read. Decision records are left out: nobody edits them once they have landed. */
const PAGES = globSync(["*.md", "packages/*/README.md", "docs/*.md", "docs/{generated,guides,spec}/*.md"], {
  cwd: ROOT,
});

describe("a page that people read", () => {
  it.each(PAGES)("has short, plain sentences: %s", (page) => {
    expect(hardSentences(readFileSync(join(ROOT, page), "utf8"))).toEqual([]);
  });
});

/** Sources whose comments and messages follow the same rules. The comments of tests are not checked. */
const SOURCES = [
  "packages/chain/src",
  "packages/cli/src",
  "packages/contract/src",
  "packages/crypto/src",
  "packages/devstack/src",
  "packages/localnet/src",
  "packages/mcp/src",
  "packages/sdk/src",
  "packages/tasks/src",
  "examples",
  "scripts",
  "server/src",
];

describe("comments and messages in the sources", () => {
  it.each(SOURCES)("have short, plain sentences: %s", (folder) => {
    const files = globSync(`${folder}/**/*.ts`, { cwd: ROOT, exclude: ["**/*.test.ts"] });
    expect(files.length).toBeGreaterThan(9);
    const hard = files.flatMap((file) => {
      const source = readFileSync(join(ROOT, file), "utf8");
      return [...commentsOf(source), ...sayingsOf(source)].flatMap(hardSentences).map((each) => `${file}: ${each}`);
    });
    expect(hard).toEqual([]);
  });
});

describe("the rules bite", () => {
  it("on a sentence of 26 words, in a paragraph, an item and a cell", () => {
    const long = `${"word ".repeat(25)}word.`;
    for (const page of [`Short. ${long}`, `- Short.\n- ${long}`, `| a | b |\n| - | - |\n| x | ${long} |`])
      expect(hardSentences(page)).toEqual([`26 words: ${long}`]);
    expect(hardSentences("word ".repeat(25))).toEqual([]);
  });

  it("on turns that people had to read twice", () => {
    expect(hardSentences("Who is no member is answered `not_a_member`.")).toHaveLength(3);
    expect(hardSentences("`--help` tells all. No secret stands here.")).toHaveLength(2);
    expect(hardSentences("Non-members get `not_a_member`. USDC stands for a coin.")).toEqual([]);
  });

  it("on each comment of a source, and not on what only looks like one", () => {
    const source = [
      "/** One.\n * Two {@link three four}.\n * @throws five six\n */",
      "// Seven\n  // eight.\nconst a = `/* ${b ? /[/*]/ : `// ${1 / 2}`} // */`; // Nine.",
      '// Ten.\n\n// Eleven.\nconst c = "// no"; /* Twelve. */',
    ].join("\n");
    const sentences = commentsOf(source).map(sentencesOf);
    expect(sentences).toEqual([
      ["One.", "Two code.", "five six"],
      ["Seven eight."],
      ["Nine.", "Ten."],
      ["Eleven."],
      ["Twelve."],
    ]);
  });

  it("on each message, with its parts, and not on code", () => {
    const source = [
      'fail("The file is" + `gone: ${f({ a: `x ${1}` })}. Ask ` + /* now */ "its owner.");',
      'const css = "a b c { d: e; } f { g: h; } i { j: k; }", word = "not_found";',
    ].join("\n");
    expect(sayingsOf(source).map(sentencesOf)).toEqual([["The file isgone: value.", "Ask its owner."]]);
  });

  it("on sentences alone, and not on code, headings and addresses", () => {
    const page = "# A heading\nOne `a b c`\ngoes on. Two.\n\n```sh\nrun it. now\n```\n- [Three](x.md. y)\n  more.";
    expect(sentencesOf(page)).toEqual(["One code goes on.", "Two.", "Three more."]);
  });
});
