import { describe, expect, it } from "vitest";
import { inChunks, patternBytes, sha256Of } from "../../../../../test/kit/bytes.ts";
import { Semaphore } from "./semaphore.ts";
import { pour } from "./uploading.ts";

const PART = 512 * 1024;
const IN_FLIGHT = 4;
const BYTES = patternBytes("poured", 6 * PART + 7);

/** Sends nowhere, after a while; the most parts that were on their way at once. */
async function pourMany(count: number): Promise<number> {
  const permits = new Semaphore(IN_FLIGHT);
  let [sending, most] = [0, 0];
  const one = async (): Promise<void> => {
    const { rest, digest } = await pour(
      inChunks(BYTES, 65_536),
      {
        signsBodies: true,
        sending: permits,
        nextSize: () => PART,
        inFlight: IN_FLIGHT,
        async send() {
          sending += 1;
          most = Math.max(most, sending);
          await new Promise((resolve) => setTimeout(resolve, 200));
          sending -= 1;
        },
      },
      { digest: "from the start" },
    );
    expect([rest.length, digest?.digest("hex")]).toEqual([7, sha256Of(BYTES)]);
  };
  await Promise.all(Array.from({ length: count }, one));
  return most;
}

describe("parts on their way", () => {
  it.each([1, 12])("are so many at once, with transfers: %i", async (count) => {
    expect(await pourMany(count)).toBe(IN_FLIGHT);
  });

  it("that fail give their permits back", async () => {
    const permits = new Semaphore(1);
    const pouring = { signsBodies: false, sending: permits, nextSize: () => PART, inFlight: 2 };
    const failing = { ...pouring, send: () => Promise.reject(new Error("the store is away")) };
    for (let turn = 0; turn < 2; turn += 1)
      await expect(pour(inChunks(BYTES), failing, { digest: null })).rejects.toThrow("the store is away");
    const { rest } = await pour(inChunks(BYTES), { ...pouring, send: () => Promise.resolve() }, { digest: null });
    expect(rest.length).toBe(7);
  });
});
