import { describe, expect, it } from "vitest";
import { BufferPool, LARGE, SMALL } from "./buffers.ts";

describe("the buffer pool", () => {
  it("hands out large buffers up to its limit, then small ones: memory is bounded and nobody waits", () => {
    const pool = new BufferPool(3);
    const taken = Array.from({ length: 5 }, () => pool.acquire());
    expect(taken.map((buffer) => buffer.length)).toEqual([LARGE, LARGE, LARGE, SMALL, SMALL]);
  });

  it("uses again what was given back, and never what was let go", () => {
    const pool = new BufferPool(2);
    const [first, second] = [pool.acquire(), pool.acquire()];
    pool.release(first);
    pool.forget(second);
    expect(pool.acquire()).toBe(first);
    expect(pool.acquire()).not.toBe(second);
    expect(pool.acquire().length).toBe(SMALL);
  });
});
