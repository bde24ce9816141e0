import { expect, it } from "vitest";
import { webPlatform } from "../platform/web.ts";
import { nodePlatform } from "./platform.ts";

const bytes = (length: number): Uint8Array => Uint8Array.from({ length }, (_, at) => (at * 37 + length) & 0xff);

it("expands keys as the portable platform does, whatever the lengths", () => {
  for (const [key, info] of [
    [32, 0],
    [32, 200],
    [64, 7],
    [128, 1],
    [32, 900],
  ] as const)
    for (const length of [0, 1, 32, 63, 64, 65, 76, 128, 129, 255 * 64])
      expect(nodePlatform.expandSha512(bytes(key), bytes(info), length), `${key}, ${info}, ${length}`).toEqual(
        webPlatform.expandSha512(bytes(key), bytes(info), length),
      );
});

it("refuses what HKDF does not give, and keys that HMAC would hash first", () => {
  expect(() => nodePlatform.expandSha512(bytes(32), bytes(1), 255 * 64 + 1)).toThrow(RangeError);
  expect(() => nodePlatform.expandSha512(bytes(129), bytes(1), 32)).toThrow(RangeError);
});
