import { describe, expect, it } from "vitest";
import { describeChain } from "../../../../test/suites/chain.ts";
import type { ChainVault } from "../../ports/chain.ts";
import { RememberedVaults } from "./remembered.ts";
import { newTestVault, openTestChain } from "./chain.test-kit.ts";

const VAULT = `0x${"a".repeat(64)}`;
const owner = { address: `0x${"1".repeat(64)}`, signingKey: new Uint8Array(32) };

function standingClock() {
  let now = 1_000_000;
  return { now: () => now, elapsed: () => now, advance: (milliseconds: number) => void (now += milliseconds) };
}

describeChain("the tests' own", () => {
  const clock = standingClock();
  const chain = openTestChain(clock);
  return {
    chain,
    advance: clock.advance,
    place: (objectId, vault) => chain.set(objectId, vault),
    placeOther: (objectId) => chain.set(objectId, null),
    takeAway: (objectId) => chain.set(objectId, null),
    stop: () => void (chain.down = true),
    start: () => void (chain.down = false),
    reads: () => chain.reads,
    [Symbol.asyncDispose]: () => chain[Symbol.asyncDispose](),
  };
});

describe("reads that overtake each other", () => {
  type Answer = (vault: Omit<ChainVault, "readAt"> | null) => void;
  const at = (generation: number) => ({ ...newTestVault(owner, { generation }), objectId: VAULT, time: 0 });

  function open() {
    const clock = standingClock();
    const answers: Answer[] = [];
    const read = () => new Promise<Omit<ChainVault, "readAt"> | null>((resolve) => void answers.push(resolve));
    return { clock, answers, chain: new RememberedVaults(read, { clock }) };
  }

  it("leave what the later one found: the earlier caller gets it too, if its own answer is older", async () => {
    const { clock, answers, chain } = open();
    const early = chain.readVault(VAULT, { maxAge: 0 });
    await Promise.resolve();
    clock.advance(5);
    const late = chain.readVault(VAULT, { maxAge: 0 });
    await Promise.resolve();
    expect(answers).toHaveLength(2);
    answers[1]?.(at(2));
    expect(await late).toMatchObject({ generation: 2 });
    answers[0]?.(at(1));
    expect(await early).toMatchObject({ generation: 2 });
    expect(await chain.readVault(VAULT, { maxAge: 100 })).toMatchObject({ generation: 2 });
    expect(answers).toHaveLength(2);
  });

  it("are joined by who allows their age, and by nobody who came after they began and wants it now", async () => {
    const { clock, answers, chain } = open();
    const first = chain.readVault(VAULT, { maxAge: 0 });
    await Promise.resolve();
    clock.advance(5);
    const joined = chain.readVault(VAULT, { maxAge: 5 });
    const now = chain.readVault(VAULT, { maxAge: 4 });
    await Promise.resolve();
    expect(answers).toHaveLength(2);
    answers[0]?.(at(1));
    expect(await joined).toBe(await first);
    answers[1]?.(at(2));
    expect(await now).toMatchObject({ generation: 2 });
  });
});
