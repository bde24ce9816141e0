import { expect, it } from "vitest";
import { blocksOf, goneTests, PAGES, unseenFences } from "../../scripts/pages/documents.ts";

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
