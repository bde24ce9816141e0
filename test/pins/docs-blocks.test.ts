import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { blocksOf, goneTests, PAGES, ROOT, unseenFences } from "../../dev/scripts/pages/documents.ts";
import { programsOf } from "../../dev/scripts/pages/programs.ts";
import { Terminal } from "../../dev/scripts/pages/terminal.ts";
import { makeDirectory } from "../kit/directory.ts";

it("each block of the pages is run or says why not, and no shape of a block escapes [issue 19]", () => {
  expect(PAGES.flatMap((page) => unseenFences(page))).toEqual([]);
  expect(PAGES.flatMap((page) => blocksOf(page)).flatMap(goneTests)).toEqual([]);
  const seen = "```sh\ncoffer ls\n```\n";
  expect(unseenFences("p", seen)).toEqual([]);
  for (const shape of [
    "1. So:\n   ```sh\n   coffer ls\n   ```\n",
    "> ```sh\n> ls\n> ```\n",
    "~~~sh\nls\n~~~\n",
    "```sh\nls\n",
  ])
    expect([shape, unseenFences("p", seen + shape)[0]]).toEqual([shape, expect.stringMatching(/^p:[45]: /)]);
  const marked = "<!-- not run: a person: test/cli/nothing-here.test.ts runs it -->\n\n```sh\nls\n```\n";
  expect(blocksOf("p", marked).flatMap(goneTests)).toHaveLength(1);
});

it("blocks that a project of test/projects tries are files of that project [issue 53]", () => {
  const blocks = PAGES.flatMap((page) => blocksOf(page)).flatMap(({ code, notRun, place }) => {
    const [, kind] = /test\/projects\/([\w-]+)\.test\.ts/.exec(notRun?.detail ?? "") ?? [];
    // A test that tries several projects has no folder of its own.
    return kind !== undefined && existsSync(path.join(ROOT, "test/projects", kind)) ? [{ code, kind, place }] : [];
  });
  expect(new Set(blocks.map(({ kind }) => kind))).toEqual(new Set(["next", "receivers", "vite-react"]));
  const strangers = blocks.filter(({ code, kind }) => {
    const files = globSync(`test/projects/${kind}/**/*.{ts,tsx}`, { cwd: ROOT, exclude: ["**/node_modules/**"] });
    return !files.some((file) => readFileSync(path.join(ROOT, file), "utf8") === code);
  });
  expect(strangers.map(({ place }) => place)).toEqual([]);
});

it("a block is left out for one of four reasons, and for no other [issue 49]", () => {
  const marked = (words: string): string => `<!-- not run: ${words} -->\n\n\`\`\`sh\nls\nid\n\`\`\`\n`;
  expect(blocksOf("p", marked("a person: who agrees"))[0]?.notRun).toEqual({
    reason: "a person",
    detail: "who agrees",
  });
  const [some] = blocksOf("p", marked("`id`: docker or a cluster"));
  expect([some?.notRun, some?.linesNotRun]).toEqual([
    null,
    [{ line: "id", reason: "docker or a cluster", detail: "" }],
  ]);
  expect(() => blocksOf("p", marked("it fails"))).toThrow('p:1: "it fails" begins with none of the reasons');
  expect(() => blocksOf("p", marked("`whoami`: a person"))).toThrow("which is not in the block");
});

it("a program is the block, those above it under its heading, and those directly under the headings around it [issue 49]", () => {
  const ts = (code: string): string => `\`\`\`ts\n${code}\n\`\`\`\n`;
  const page = `# P\n${ts("a")}## One\n${ts("b")}### Deep\n${ts("c")}${ts("d")}## Two\n${ts("e")}`;
  const programs = programsOf(blocksOf("p", page)).map(({ code }) => code.replaceAll(/\n+/g, ""));
  expect(programs).toEqual(["abcd", "ae"]);
});

describe("a terminal", () => {
  let terminal: Terminal;

  beforeEach(() => {
    terminal = new Terminal(makeDirectory(), process.env, 10_000);
  });
  afterEach(() => terminal[Symbol.asyncDispose]());

  it("keeps what blocks define, and is red for a command that fails, at each place of a block [issue 49]", async () => {
    await terminal.paste("mkdir there; cd there\nname='a b'\nsay() { printf '%s|' \"$name\" \"$@\"; }\n");
    expect(await terminal.paste('say c; basename "$PWD"')).toBe("a b|c|there\n");
    await expect(terminal.paste("echo before\nfalse | cat\necho after")).rejects.toThrow(
      /ended with a failure[^]*\nbefore\n$/,
    );
  });

  it.each(["no-such-program", 'echo "$NO_SUCH_VARIABLE"'])("is red for %s [issue 49]", async (line) => {
    await expect(terminal.paste(line)).rejects.toThrow("ended with a failure");
  });

  it("goes on after a Ctrl-C of what serves, and is red for what ends before it serves [issue 49]", async () => {
    await terminal.pasteServing("sh -c 'echo ready; exec sleep 60'", /ready/);
    await terminal.interrupt();
    expect(await terminal.paste("echo still there")).toBe("still there\n");
    await expect(terminal.pasteServing("echo no", /ready/)).rejects.toThrow("ended before it was ready");
  });
});
