/** What every driver of the chain port must do. */
import type { Chain, ChainVault } from "@coffer/server/ports/chain";
import { describe, expect, it } from "vitest";

export type PlacedVault = Omit<ChainVault, "readAt" | "objectId" | "time">;

/** A chain to read, with a clock that stands still. */
export interface ChainMedium extends AsyncDisposable {
  readonly chain: Chain;
  /** Milliseconds. */
  advance(milliseconds: number): void;
  /** Puts the vault there in the place of what stood there, as transactions do. */
  place(objectId: string, vault: PlacedVault): void;
  /** An object that is none of the package's vaults. */
  placeOther(objectId: string): void;
  takeAway(objectId: string): void;
  stop(): void;
  start(): void;
  /** How often an object was asked for. */
  reads(): number;
}

const address = (digit: string): string => `0x${digit.repeat(64)}`;
const key = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const VAULT = address("a");

const first: PlacedVault = {
  owner: { address: address("1"), signingKey: key(1), since: 1, endsAt: null },
  members: [
    { address: address("2"), signingKey: new Uint8Array(0), since: 1, endsAt: null, until: null },
    { address: address("3"), signingKey: key(3), since: 4, endsAt: null, until: null },
  ],
  former: [{ address: address("4"), signingKey: key(4), since: 1, until: 3, endsAt: null }],
  generation: 4,
  floor: 2,
  plainNames: true,
};
const next: PlacedVault = { ...first, members: [], generation: 5 };

export function describeChain(name: string, open: () => ChainMedium): void {
  const test = (title: string, check: (medium: ChainMedium) => Promise<void>): void =>
    it(title, async () => {
      await using medium = open();
      medium.place(VAULT, first);
      await check(medium);
    });

  describe(`chain: ${name}`, () => {
    test("reads a vault with everything that is in it", async ({ chain }) => {
      const found = await chain.readVault(VAULT, { maxAge: 0 });
      expect(found).toEqual({ ...first, objectId: VAULT, time: found?.time, readAt: found?.readAt });
    });

    test("answers null for an object that is not there or is no vault, and looks again the next time", async (medium) => {
      const { chain } = medium;
      medium.placeOther(address("b"));
      for (const other of [address("b"), address("c")])
        expect(await chain.readVault(other, { maxAge: 1000 })).toBeNull();
      medium.place(address("c"), first);
      expect(await chain.readVault(address("c"), { maxAge: 1000 })).toMatchObject({ generation: 4 });
    });

    test("answers from memory for as long as the caller allows, and never to one who wants it now", async (medium) => {
      const { chain } = medium;
      const { readAt } = (await chain.readVault(VAULT, { maxAge: 0 })) ?? {};
      medium.place(VAULT, next);
      medium.advance(999);
      expect(await chain.readVault(VAULT, { maxAge: 1000 })).toMatchObject({ generation: 4, readAt });
      expect(medium.reads()).toBe(1);
      expect(await chain.readVault(VAULT, { maxAge: 999 })).toMatchObject({ generation: 5 });
      expect(await chain.readVault(VAULT, { maxAge: 0 })).toMatchObject({ generation: 5 });
      expect(medium.reads()).toBe(3);
    });

    test("reads once for all who ask at once", async (medium) => {
      const asked = [0, 0, 1000, 10_000].map((maxAge) => medium.chain.readVault(VAULT, { maxAge }));
      for (const found of await Promise.all(asked)) expect(found).toMatchObject({ generation: 4 });
      expect(medium.reads()).toBe(1);
    });

    test("is unavailable while the chain is down, except for what it remembers, and back with it", async (medium) => {
      const { chain } = medium;
      await chain.readVault(VAULT, { maxAge: 0 });
      medium.stop();
      expect(await chain.readVault(VAULT, { maxAge: 10 })).toMatchObject({ generation: 4 });
      const refused = { name: "ChainUnavailableError" };
      await expect(chain.readVault(VAULT, { maxAge: 0 })).rejects.toMatchObject(refused);
      medium.advance(10);
      await expect(chain.readVault(VAULT, { maxAge: 10 })).rejects.toMatchObject(refused);
      await expect(chain.readVault(address("c"), { maxAge: 10 })).rejects.toMatchObject(refused);
      medium.start();
      expect(await chain.readVault(VAULT, { maxAge: 10 })).toMatchObject({ generation: 4 });
    });

    test("believes no generation below one that it answered, nor that the vault is gone", async (medium) => {
      const { chain } = medium;
      medium.place(VAULT, next);
      await chain.readVault(VAULT, { maxAge: 0 });
      const refused = { name: "ChainUnavailableError" };
      medium.place(VAULT, first);
      await expect(chain.readVault(VAULT, { maxAge: 0 })).rejects.toMatchObject(refused);
      medium.takeAway(VAULT);
      await expect(chain.readVault(VAULT, { maxAge: 0 })).rejects.toMatchObject(refused);
      medium.placeOther(VAULT);
      await expect(chain.readVault(VAULT, { maxAge: 0 })).rejects.toMatchObject(refused);
      medium.place(VAULT, { ...next, generation: 6 });
      expect(await chain.readVault(VAULT, { maxAge: 0 })).toMatchObject({ generation: 6 });
    });

    test("is unavailable once it is closed", async ({ chain }) => {
      await chain[Symbol.asyncDispose]();
      await expect(chain.readVault(VAULT, { maxAge: 0 })).rejects.toMatchObject({ name: "ChainUnavailableError" });
    });
  });
}
