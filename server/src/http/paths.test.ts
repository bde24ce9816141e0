import { expect, it } from "vitest";
import { hasEmptySegment } from "./paths.ts";

it.each([
  ["/api/files", false],
  ["/api/files/", false],
  ["/api/files//", true],
  ["//api/files", true],
  ["/api//files", true],
  ["/api/files?name=a//b", false],
  ["/api/files//?name=a", true],
  ["http://127.0.0.1:8787/api/files/", false],
  ["http://127.0.0.1:8787/api/files//", true],
  ["http://127.0.0.1:8787?name=//", false],
])("%s has an empty segment: %s [D1-one-trailing-slash]", (target, expected) => {
  expect(hasEmptySegment(target)).toBe(expected);
});
