import { describe, expect, it, onTestFinished, vi } from "vitest";
import { inChunks, patternBytes, sha256Of } from "../../../../../test/kit/bytes.ts";
import { BLOCK, BlockPool } from "./blocks.ts";
import { pour } from "./uploading.ts";

const PART = 2 * BLOCK;
const MOST = 8;
const IN_FLIGHT = 4;
const BYTES = patternBytes("poured", 6 * PART + 7);

/** Sends nowhere, after a while; the most bytes that were on their way at once. */
async function pourMany(count: number): Promise<number> {
  const pool = new BlockPool(() => MOST, true);
  let [sending, most] = [0, 0];
  const one = async (): Promise<void> => {
    const { rest, digest } = await pour(
      inChunks(BYTES, 65_536),
      {
        ...{ pool, nextSize: () => PART, inFlight: IN_FLIGHT },
        async send({ bytes }) {
          sending += bytes;
          most = Math.max(most, sending);
          await new Promise((resolve) => setTimeout(resolve, 50));
          sending -= bytes;
        },
      },
      { digest: "from the start" },
    );
    expect([rest.length, digest?.digest("hex")]).toEqual([7, sha256Of(BYTES)]);
    rest.release();
  };
  await Promise.all(Array.from({ length: count }, one));
  expect(pool.isCrowded).toBe(false);
  return most;
}

describe("parts on their way", () => {
  it("are as many as they may be while there is one transfer", async () => {
    expect(await pourMany(1)).toBe(IN_FLIGHT * PART);
  });

  it("are hardly more than one for each of many transfers", async () => {
    expect(await pourMany(12)).toBeLessThanOrEqual(MOST * BLOCK + 12 * PART);
  });
});

describe("blocks that come back", () => {
  const many = (pool: BlockPool, count: number) => Array.from({ length: count }, () => pool.take());
  const freed = (blocks: readonly Buffer[]): number => blocks.filter(({ buffer }) => buffer.byteLength === 0).length;

  it("are used again, and freed once nobody needed them for a while", () => {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const pool = new BlockPool(() => MOST, true);
    const blocks = many(pool, 20);
    pool.giveBack(blocks);
    for (let turn = 0; turn < 5; turn += 1) {
      vi.advanceTimersByTime(9_000);
      const some = many(pool, 12);
      expect(some.every((block) => blocks.includes(block))).toBe(true);
      pool.giveBack(some);
    }
    // Eight were needed by nobody, and eight always stay.
    expect(freed(blocks)).toBe(0);
    vi.advanceTimersByTime(20_000);
    expect(freed(blocks)).toBe(12);
    const all = many(pool, 20);
    expect(freed(all)).toBe(0);
    pool.giveBack(all);
  });
});
