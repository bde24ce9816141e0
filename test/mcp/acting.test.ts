/** The tools that act, in a public vault. */
import { readdir } from "node:fs/promises";
import { expect, it } from "vitest";
import { describeActs, tree } from "./acting-cases.ts";

const scene = describeActs("public");

it("500 files by one call are one answer of at most 600 tokens", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 500 }, (_, at) => [`f${String(at)}.txt`, `content ${String(at)}`]),
  );
  await tree(scene(), "five-hundred", files);
  const answer = await scene().tools.call("file_upload", { paths: ["five-hundred"], vaultId: "Acts public" });
  expect(answer.facts).toMatchObject({ created: 500 });
  // A token of o200k has more than three characters of such a text.
  expect(answer.text.length / 3).toBeLessThan(600);
});

it("failures beyond the first 20 are shown by the cursor, each once", async () => {
  const { tools, vaultId } = scene();
  const paths = Array.from({ length: 45 }, (_, at) => `missing-${String(at)}.txt`);
  const first = await tools.call("file_upload", { paths, vaultId });
  expect(first.facts).toMatchObject({ failed: 45, nextCursor: "20" });
  const seen = [...(first.facts["rows"] as unknown[][])];
  let { nextCursor } = first.facts;
  while (nextCursor !== undefined) {
    const page = await tools.call("transfer_get", { transferId: first.facts["transferId"], cursor: nextCursor });
    seen.push(...(page.facts["rows"] as unknown[][]));
    nextCursor = page.facts["nextCursor"];
  }
  const names = seen.map((row) => String(row[3]).replaceAll(/<\/?[\w-]{8}>/g, ""));
  expect(names.toSorted()).toEqual(paths.toSorted());
});

it("names of files that are no local names are refused, and nothing outside the folder is written", async () => {
  const { folder, owner, tools, vaultId } = scene();
  const { file } = await owner.files.upload({ vaultId, name: "..%2f..%2fescape", body: "x" });
  const answer = await tools.call("file_download", { files: [file.id], dest: "." });
  expect(answer.isError).toBe(false);
  expect((await readdir(folder)).filter((name) => name.includes("escape"))).toEqual(["..%2f..%2fescape"]);
});
