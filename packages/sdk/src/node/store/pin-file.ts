/**
 * The pins of vaults, in a file beside the configuration. It must outlive the process, or a service could wait for the
 * next one.
 */
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod/mini";
import { configurationError, lockedError } from "../../http/errors.ts";
import { baseOf, laterOf } from "../../shared-vaults/trust/pin-facts.ts";
import {
  isSamePin,
  type Candidate,
  type Highest,
  type PinStore,
  type VaultPin,
} from "../../shared-vaults/trust/pins.ts";
import { configDirectory, type Environment } from "../config/config.ts";
import { fileErrorCode, makePrivateDirectory, replaceFile } from "./durable-file.ts";
import { isSameMark, markOf, stableMark, type Mark } from "../files/file-mark.ts";
import { readJsonFile } from "../config/json-file.ts";
import { acquireLock, type LockFile } from "./lock-file.ts";

const LOCK_WAIT_MS = 5_000;

const storedPin = z.object({
  origin: z.string(),
  vaultId: z.string(),
  shared: z.boolean(),
  chainObjectId: z.nullable(z.string()),
  ownerAddress: z.nullable(z.string()),
  chainId: z.nullable(z.string()),
});

const digits = z.string().check(z.regex(/^\d{1,20}$/));

const storedPins = z.object({
  version: z.literal(1),
  pins: z.array(storedPin),
  /** Highest generation and floor seen, by chain object; decimal digits. */
  generations: z.record(z.string(), digits),
  floors: z.optional(z.record(z.string(), digits)),
  /** The highest generation that a rotation began. */
  bases: z.optional(z.record(z.string(), digits)),
  /** The latest end of a membership that was reached in that generation, in milliseconds since 1970. */
  ends: z.optional(z.record(z.string(), digits)),
  /** What one node has shown above them, by chain object. */
  candidates: z.optional(
    z.record(
      z.string(),
      z.array(
        z.object({
          generation: digits,
          after: z.optional(digits),
          floor: digits,
          base: z.optional(digits),
          since: z.number(),
        }),
      ),
    ),
  ),
  /** What the owner has given by transactions that may still be executed, by chain object. */
  given: z.optional(
    z.record(
      z.string(),
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
  ),
  /** Makers of vault keys that the chain has shown, and the keys that this machine has made, by chain object. */
  makers: z.optional(
    z.record(z.string(), z.array(z.object({ generation: digits, address: z.string(), since: z.number() }))),
  ),
  made: z.optional(z.record(z.string(), z.array(z.string()))),
  /** Whether names are plain, by chain object. */
  plainNames: z.optional(z.record(z.string(), z.boolean())),
});

type Stored = z.infer<typeof storedPins>;

/** `vault-pins.json` in the configuration's directory. */
export function pinFile(env?: Environment): string {
  return join(configDirectory(env), "vault-pins.json");
}

/**
 * Keeps pins in a file of mode 0600, replaced as a whole under a lock; several processes may share it.
 * @throws SdkError `configuration` for a file that holds something else: you must notice a lost pin.
 */
export function filePins(path: string = pinFile()): PinStore {
  const readNow = reader(path);
  return {
    load: async (origin, vaultId) => findPin(await readNow(), origin, vaultId),
    list: async (origin) => (await readNow()).pins.filter((pin) => pin.origin === origin),
    save: async (expected, pin) => {
      await using _lock = await lock(path);
      const stored = await read(path);
      const kept = findPin(stored, pin.origin, pin.vaultId);
      if (!isSamePin(kept, expected)) return false;
      await write(path, { ...stored, pins: [...stored.pins.filter((other) => other !== kept), pin] });
      return true;
    },
    loadHighest: async (chainObjectId) => highestOnce(await readNow(), chainObjectId),
    changeHighest: async (chainObjectId, change) => {
      await using _lock = await lock(path);
      const stored = await read(path);
      const highest = change(findHighest(stored, chainObjectId));
      await write(path, {
        ...stored,
        generations: { ...stored.generations, [chainObjectId]: String(highest.generation) },
        ends: { ...stored.ends, [chainObjectId]: String(highest.after ?? 0n) },
        floors: { ...stored.floors, [chainObjectId]: String(highest.floor) },
        bases: { ...stored.bases, [chainObjectId]: String(highest.base ?? 0n) },
        candidates: { ...stored.candidates, [chainObjectId]: (highest.candidates ?? []).map(toStored) },
        given: withField(stored.given, chainObjectId, highest.given && [...highest.given]),
        makers: {
          ...stored.makers,
          [chainObjectId]: (highest.makers ?? []).map((each) => ({ ...each, generation: String(each.generation) })),
        },
        made: { ...stored.made, [chainObjectId]: [...(highest.made ?? [])] },
        plainNames: withField(stored.plainNames, chainObjectId, highest.plainNames),
      });
      return highest;
    },
  };
}

function findPin({ pins }: Stored, origin: string, vaultId: string): VaultPin | null {
  return pins.find((pin) => pin.origin === origin && pin.vaultId === vaultId) ?? null;
}

function withField<Value>(
  stored: Readonly<Record<string, Value>> = {},
  chainObjectId: string,
  value: Value | undefined,
): Record<string, Value> {
  const others = Object.entries(stored).filter(([id]) => id !== chainObjectId);
  return Object.fromEntries(value === undefined ? others : [...others, [chainObjectId, value]]);
}

function toStored({ after = 0n, base = 0n, generation, floor, since }: Candidate) {
  return { generation: String(generation), after: String(after), floor: String(floor), base: String(base), since };
}

function findHighest(stored: Stored, chainObjectId: string): Highest {
  const { generations, floors = {}, bases = {}, ends = {}, candidates = {}, given = {} } = stored;
  const { plainNames = {}, makers = {}, made = {} } = stored;
  const listOf = <Item>(lists: Readonly<Record<string, readonly Item[]>>): readonly Item[] =>
    (Object.hasOwn(lists, chainObjectId) ? lists[chainObjectId] : undefined) ?? [];
  const numberOf = (numbers: Readonly<Record<string, string>>): bigint =>
    BigInt((Object.hasOwn(numbers, chainObjectId) ? numbers[chainObjectId] : undefined) ?? "0");
  const kind = Object.hasOwn(plainNames, chainObjectId) ? plainNames[chainObjectId] : undefined;
  const sent = Object.hasOwn(given, chainObjectId) ? given[chainObjectId] : undefined;
  const [open, seen, own] = [listOf(candidates), listOf(makers), listOf(made)];
  return {
    ...laterOf({ generation: numberOf(generations), after: numberOf(ends) }, { generation: 0n }),
    floor: numberOf(floors),
    ...baseOf({ base: numberOf(bases) }),
    ...(kind !== undefined && { plainNames: kind }),
    ...(sent !== undefined && { given: sent }),
    ...(seen.length > 0 && { makers: seen.map((each) => ({ ...each, generation: BigInt(each.generation) })) }),
    ...(own.length > 0 && { made: own }),
    ...(open.length > 0 && {
      candidates: open.map(({ generation, after = "0", floor, base = "0", since }) => ({
        ...laterOf({ generation: BigInt(generation), after: BigInt(after) }, { generation: 0n }),
        floor: BigInt(floor),
        ...baseOf({ base: BigInt(base) }),
        since,
      })),
    }),
  };
}

const numbers = new WeakMap<Stored, Map<string, Highest>>();

/** Numbers of one reading are parsed once: they are decimal text. */
function highestOnce(stored: Stored, chainObjectId: string): Highest {
  const known = numbers.get(stored) ?? new Map<string, Highest>();
  numbers.set(stored, known);
  const highest = known.get(chainObjectId) ?? findHighest(stored, chainObjectId);
  known.set(chainObjectId, highest);
  return highest;
}

/**
 * Each file of an upload asks for the pins several times. What has not changed since it was read is not read again. Nor is
 * the file looked at twice before this process waits for something: until then it hears of no other process.
 */
function reader(path: string): () => Promise<Stored> {
  let last: { readonly mark: Mark; readonly stored: Promise<Stored> } | null = null;
  let looked: Promise<Stored> | null = null;
  const look = (): Promise<Stored> => {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    const mark = stats === undefined ? null : stableMark(markOf(stats));
    if (last !== null && mark !== null && isSameMark(last.mark, mark)) return last.stored;
    const stored = read(path);
    last = mark === null ? null : { mark, stored };
    return stored;
  };
  return () => {
    if (looked !== null) return looked;
    // After all promises that are settled by now, and before the next event.
    process.nextTick(() => (looked = null));
    return (looked = look());
  };
}

async function read(path: string): Promise<Stored> {
  try {
    return z.parse(storedPins, await readJsonFile(path));
  } catch (error) {
    if (fileErrorCode(error) === "ENOENT") return { version: 1, pins: [], generations: {} };
    throw configurationError(`The file ${path} does not hold the pins of vaults: repair it from a copy`);
  }
}

async function lock(path: string): Promise<LockFile> {
  await makePrivateDirectory(dirname(path));
  const held = await acquireLock(`${path}.lock`, LOCK_WAIT_MS);
  if (held === null) throw lockedError(`Another process keeps ${path} locked`);
  return held;
}

async function write(path: string, stored: Stored): Promise<void> {
  await replaceFile(path, `${JSON.stringify(stored, null, 2)}\n`);
}
