/** TEST ONLY: a chain whose state a test sets, read and remembered like a real one. */
import { type Chain, ChainUnavailableError, type ChainMember, type ChainVault } from "../../ports/chain.ts";
import type { Clock } from "../../ports/clock.ts";
import { requireSameTime } from "./node.ts";
import { type Bounds, RememberedVaults } from "./remembered.ts";

export type TestVault = Omit<ChainVault, "readAt" | "objectId" | "time">;

/** An entry as a test names it: without an end unless it says one. */
type NewMember = Omit<ChainMember, "since" | "endsAt"> & { readonly endsAt?: number | null };

export interface TestChain extends Chain {
  /** True: no read gets an answer. */
  down: boolean;
  /** How far the chain's time is ahead of the test's clock, in milliseconds. Beyond 30 s no read gets an answer. */
  skew: number;
  /** Reads so far that asked the chain. */
  readonly reads: number;
  /** Sets the present object; `null` takes it away. Readers may not see it before their memory is old enough. */
  set(objectId: string, vault: TestVault | null): void;
  /** As the owner or a member does it; raises the generation where the Move module does. */
  add(objectId: string, member: NewMember): void;
  /** Raises the generation where the end comes nearer. */
  setUntil(objectId: string, address: string, endsAt: number | null): void;
  remove(objectId: string, address: string): void;
}

export function openTestChain(clock: Clock, bounds: Partial<Bounds> = {}): TestChain {
  const vaults = new Map<string, TestVault>();
  let reads = 0;
  const memory = new RememberedVaults(
    (objectId) => {
      reads += 1;
      if (chain.down) return Promise.reject(new ChainUnavailableError("The test's chain is down"));
      const [vault, time] = [vaults.get(objectId), clock.now() + chain.skew];
      requireSameTime(time, clock.now());
      return Promise.resolve(vault === undefined ? null : { ...vault, objectId, time });
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
    skew: 0,
    get reads() {
      return reads;
    },
    readVault: (objectId, options) => memory.readVault(objectId, options),
    set(objectId, vault) {
      if (vault === null) vaults.delete(objectId);
      else vaults.set(objectId, vault);
    },
    add: (objectId, member) => change(objectId, (vault) => withMember(vault, member, clock.now() + chain.skew)),
    setUntil: (objectId, address, endsAt) =>
      change(objectId, (vault) => withEnd(vault, address, endsAt, clock.now() + chain.skew)),
    remove: (objectId, address) => change(objectId, (vault) => without(vault, address)),
    [Symbol.asyncDispose]: () => memory[Symbol.asyncDispose](),
  };
  return chain;
}

/** A vault as it is made: its owner alone, generation 1. */
export function newTestVault(owner: NewMember, more: Partial<TestVault> = {}): TestVault {
  const made = { owner: { ...owner, since: 1, endsAt: null }, members: [], former: [] };
  return { ...made, generation: 1, floor: 1, plainNames: false, ...more };
}

/** Every act that raises the generation marks first who has ended. */
function raised(vault: TestVault, now: number): TestVault {
  const until = vault.generation;
  const members = vault.members.map((entry) =>
    entry.until === null && entry.endsAt !== null && entry.endsAt <= now ? { ...entry, until } : entry,
  );
  return { ...vault, members, generation: until + 1 };
}

/** A member whose access ended is added again as a new entry, in a new generation. */
function withMember(vault: TestVault, { endsAt = null, ...member }: NewMember, now: number): TestVault {
  const base = vault.members.some(({ address }) => address === member.address) ? raised(vault, now) : vault;
  const entry = { ...member, endsAt, since: base.generation, until: null };
  return { ...base, members: [...base.members, entry] };
}

function withEnd(vault: TestVault, address: string, endsAt: number | null, now: number): TestVault {
  const found = vault.members.find((entry) => entry.address === address && entry.until === null);
  if (found === undefined) throw new Error("the test's vault does not name the address");
  if ((found.endsAt ?? Infinity) <= now) throw new Error("the access of the test's member has ended");
  const base = (endsAt ?? Infinity) < (found.endsAt ?? Infinity) ? raised(vault, now) : vault;
  const members = base.members.map((entry) =>
    entry.address === address && entry.until === null ? { ...entry, endsAt } : entry,
  );
  return { ...base, members };
}

function without(vault: TestVault, address: string): TestVault {
  const until = vault.generation;
  const closed = vault.members
    .filter((member) => member.address === address)
    .map((member) => ({ ...member, until: member.until ?? until }));
  if (closed.length === 0) throw new Error("the test's vault does not name the address");
  const members = vault.members.filter((member) => member.address !== address);
  return { ...vault, members, former: [...vault.former, ...closed], generation: until + 1 };
}
