import { runInNewContext } from "node:vm";
import { afterEach, expect, it, vi } from "vitest";
import { acceptBytes } from "./accepted-bytes.ts";

afterEach(() => {
  vi.unstubAllGlobals();
});

it("takes a string where the TextEncoder is of another realm, as in jsdom [issue 53]", () => {
  const encode = (): unknown => runInNewContext("Uint8Array.of(97, 98)");
  vi.stubGlobal(
    "TextEncoder",
    class {
      encode = encode;
    },
  );
  expect(encode()).not.toBeInstanceOf(Uint8Array);
  expect(acceptBytes("ab")).toEqual(Uint8Array.of(97, 98));
  expect(acceptBytes("ab")).toBeInstanceOf(Uint8Array);
});
