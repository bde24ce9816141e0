/** Pins and the highest numbers in a profile store: what is resolved outlives the process, and all processes share it. */
import * as z from "zod/mini";
import { decodeJson, encodeJson } from "../../store/json-row.ts";
import type { ProfileStore } from "../../store/profile-store.ts";
import { RowCache } from "../../store/row-cache.ts";
import { NOTHING_SEEN } from "./pin-facts.ts";
import { isSamePin, type Candidate, type Highest, type PinStore, type VaultPin } from "./pins.ts";

const pinRow = z.object({
  origin: z.string(),
  vaultId: z.string(),
  shared: z.boolean(),
  chainObjectId: z.nullable(z.string()),
  ownerAddress: z.nullable(z.string()),
  chainId: z.nullable(z.string()),
});

/** JSON has no 64-bit numbers. */
const digits = z.pipe(
  z.string().check(z.regex(/^\d{1,20}$/)),
  z.transform((text: string) => BigInt(text)),
);
const numbers = { generation: digits, floor: digits, after: z.optional(digits), base: z.optional(digits) };

const highestRow = z.object({
  ...numbers,
  plainNames: z.optional(z.boolean()),
  candidates: z.optional(z.array(z.object({ ...numbers, since: z.number() }))),
  given: z.optional(
    z.array(
      z.object({
        of: z.enum(["member", "ownership"]),
        chainAddress: z.string(),
        last: z.string(),
        since: z.number(),
        isAnswered: z.boolean(),
      }),
    ),
  ),
  makers: z.optional(z.array(z.object({ generation: digits, address: z.string(), since: z.number() }))),
  made: z.optional(z.array(z.string())),
});

type PinRow = { readonly pin: VaultPin } | { readonly highest: Highest };

const PIN = "pin ";
const pinKey = (origin: string, vaultId: string): string => `${PIN}${origin} ${vaultId}`;
const highestKey = (chainObjectId: string): string => `object ${chainObjectId}`;

const decodePin = (value: Uint8Array): VaultPin => decodeJson(pinRow, value, "the pins of vaults");
const decodeHighest = (value: Uint8Array): Highest => decodeJson(highestRow, value, "the numbers of vaults") as Highest;

/**
 * Keeps pins in the table `pins`. `vaultStores` has it with the others.
 * @throws SdkError `configuration` for a damaged table: you must notice a lost pin.
 */
export function pinStore(store: ProfileStore): PinStore {
  const table = store.table("pins");
  const cache = new RowCache<PinRow>(table, (value, key) =>
    key.startsWith(PIN) ? { pin: decodePin(value) } : { highest: decodeHighest(value) },
  );
  const pinIn = (row: PinRow | undefined): VaultPin | null => (row !== undefined && "pin" in row ? row.pin : null);
  return {
    load: async (origin, vaultId) => pinIn((await cache.read()).get(pinKey(origin, vaultId))),
    list: async (origin) => {
      const pins = [...(await cache.read()).values()].map((row) => pinIn(row));
      return pins.filter((pin) => pin?.origin === origin) as VaultPin[];
    },
    save: (expected, pin) => {
      const key = pinKey(pin.origin, pin.vaultId);
      return table.update([key], (rows) => {
        const value = rows.get(key);
        const isExpected = isSamePin(value === undefined ? null : decodePin(value), expected);
        return { result: isExpected, changes: isExpected ? [{ key, value: encodePin(pin) }] : [] };
      });
    },
    loadHighest: async (chainObjectId) => {
      const row = (await cache.read()).get(highestKey(chainObjectId));
      return row !== undefined && "highest" in row ? row.highest : NOTHING_SEEN;
    },
    changeHighest: (chainObjectId, change) => {
      const key = highestKey(chainObjectId);
      return table.update([key], (rows) => {
        const value = rows.get(key);
        const highest = change(value === undefined ? NOTHING_SEEN : decodeHighest(value));
        return { result: highest, changes: [{ key, value: encodeHighest(highest) }] };
      });
    },
  };
}

function encodePin({ origin, vaultId, shared, chainObjectId, ownerAddress, chainId }: VaultPin): Uint8Array {
  return encodeJson({ origin, vaultId, shared, chainObjectId, ownerAddress, chainId });
}

/** A number that is 0 and a list that is empty are stored as none. Each field is named: the caller's objects may have others. */
function encodeHighest({
  generation,
  floor,
  after = 0n,
  base = 0n,
  plainNames,
  candidates = [],
  given,
  makers = [],
  made = [],
}: Highest): Uint8Array {
  return encodeJson({
    generation: String(generation),
    floor: String(floor),
    plainNames,
    given: given?.map(({ of, chainAddress, last, since, isAnswered }) => ({
      of,
      chainAddress,
      last,
      since,
      isAnswered,
    })),
    ...(after > 0n && { after: String(after) }),
    ...(base > 0n && { base: String(base) }),
    ...(candidates.length > 0 && { candidates: candidates.map(encodeCandidate) }),
    ...(makers.length > 0 && {
      makers: makers.map(({ generation: seenIn, address, since }) => ({
        generation: String(seenIn),
        address,
        since,
      })),
    }),
    ...(made.length > 0 && { made }),
  });
}

function encodeCandidate({ generation, after = 0n, floor, base = 0n, since }: Candidate): object {
  return {
    generation: String(generation),
    floor: String(floor),
    since,
    ...(after > 0n && { after: String(after) }),
    ...(base > 0n && { base: String(base) }),
  };
}
