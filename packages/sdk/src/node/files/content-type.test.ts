import { expect, it } from "vitest";
import { guessContentType } from "./content-type.ts";

it.each([
  ["report.pdf", "application/pdf"],
  ["REPORT.PDF", "application/pdf"],
  ["notes.md", "text/markdown"],
  ["a b.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
  ["backup.tar.gz", "application/gzip"],
  ["main.ts", undefined],
  ["pdf", undefined],
  [".json", undefined],
  ["a.unheard-of", undefined],
  ["a.", undefined],
])("guesses the type of %s", (name, type) => {
  expect(guessContentType(name)).toBe(type);
});
