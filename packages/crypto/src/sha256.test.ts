import { sha256 as portable } from "@noble/hashes/sha2.js";
import { expect, it } from "vitest";
import { concatBytes } from "./bytes.ts";
import { sha256, sha256Of } from "./sha256.ts";

const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, (_, at) => (at * 37 + length) & 0xff);

it("is the portable digest, of one piece and of several", () => {
  for (const length of [0, 1, 32, 5000]) {
    const whole = bytes(length);
    expect(sha256(whole)).toEqual(portable(whole));
    const pieces = [whole.subarray(0, length >> 1), new Uint8Array(0), whole.subarray(length >> 1)];
    expect(sha256Of(...pieces)).toEqual(portable(concatBytes(...pieces)));
  }
});

it("gives each caller a digest of its own", () => {
  const first = sha256(bytes(1));
  const kept = Uint8Array.from(first);
  sha256(bytes(2));
  expect(first).toEqual(kept);
  expect(first.constructor).toBe(Uint8Array);
});
