/** TEST ONLY: a chain of which a test says what stands on it, read and remembered as a real one is. */
import { type Chain, ChainUnavailableError, type ChainMember, type ChainVault } from "../../ports/chain.ts";
import type { Clock } from "../../ports/clock.ts";
import { type Bounds, RememberedVaults } from "./remembered.ts";

export type TestVault = Omit<ChainVault, "readAt" | "objectId">;

export interface TestChain extends Chain {
  /** True: no read is answered. */
  down: boolean;
  /** Reads so far that asked the chain. */
  readonly reads: number;
  /** What stands there by now; `null` takes it away. Readers may not see it before their memory is old enough. */
  set(objectId: string, vault: TestVault | null): void;
  /** As the owner or a member does it; raises the generation where the Move module does. */
  add(objectId: string, member: Omit<ChainMember, "since">): void;
  remove(objectId: string, address: string): void;
}

export function openTestChain(clock: Clock, bounds: Partial<Bounds> = {}): TestChain {
  const vaults = new Map<string, TestVault>();
  let reads = 0;
  const memory = new RememberedVaults(
    (objectId) => {
      reads += 1;
      if (chain.down) return Promise.reject(new ChainUnavailableError("The test's chain is down"));
      const vault = vaults.get(objectId);
      return Promise.resolve(vault === undefined ? null : { ...vault, objectId });
    },
    { clock, bounds },
  );
  const change = (objectId: string, edit: (vault: TestVault) => TestVault): void => {
    const vault = vaults.get(objectId);
    if (vault === undefined) throw new Error("the test's chain has no such vault");
    vaults.set(objectId, edit(vault));
  };
  const chain: TestChain = {
    down: false,
    get reads() {
      return reads;
    },
    readVault: (objectId, options) => memory.readVault(objectId, options),
    set(objectId, vault) {
      if (vault === null) vaults.delete(objectId);
      else vaults.set(objectId, vault);
    },
    add: (objectId, member) =>
      change(objectId, (vault) => ({ ...vault, members: [...vault.members, { ...member, since: vault.generation }] })),
    remove: (objectId, address) => change(objectId, (vault) => without(vault, address)),
    [Symbol.asyncDispose]: () => memory[Symbol.asyncDispose](),
  };
  return chain;
}

/** A vault as it is made: its owner alone, generation 1. */
export function newTestVault(owner: Omit<ChainMember, "since">, more: Partial<TestVault> = {}): TestVault {
  const vault = { owner: { ...owner, since: 1 }, members: [], former: [], generation: 1, floor: 1, plainNames: false };
  return { ...vault, ...more };
}

function without(vault: TestVault, address: string): TestVault {
  const until = vault.generation;
  const closed = vault.members.filter((member) => member.address === address).map((member) => ({ ...member, until }));
  if (closed.length === 0) throw new Error("the test's vault does not name the address");
  const members = vault.members.filter((member) => member.address !== address);
  return { ...vault, members, former: [...vault.former, ...closed], generation: until + 1 };
}
