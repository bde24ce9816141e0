/** What vaults are held to, in a file beside the configuration: it must outlive the process, or a service could wait for the next one. */
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as z from "zod/mini";
import { configurationError } from "../errors.ts";
import type { PinStore, VaultPin } from "../vaults/pins.ts";
import { configDirectory, type Environment } from "./config.ts";
import { fileErrorCode, makePrivateDirectory, replaceFile } from "./durable-file.ts";
import { acquireLock } from "./lock-file.ts";

const LOCK_WAIT_MS = 5_000;

const storedPin = z.object({
  origin: z.string(),
  vaultId: z.string(),
  shared: z.boolean(),
  chainObjectId: z.nullable(z.string()),
  ownerAddress: z.nullable(z.string()),
  chainId: z.nullable(z.string()),
});

const storedPins = z.object({
  version: z.literal(1),
  pins: z.array(storedPin),
  /** Highest generation seen, by chain object; decimal digits. */
  generations: z.record(z.string(), z.string().check(z.regex(/^\d{1,20}$/))),
});

type Stored = z.infer<typeof storedPins>;

/** `vault-pins.json` in the configuration's directory. */
export function pinFile(env?: Environment): string {
  return join(configDirectory(env), "vault-pins.json");
}

/**
 * Keeps pins in a file of mode 0600, replaced as a whole under a lock; several processes may share it.
 * @throws SdkError `configuration` for a file that holds something else: a lost pin must be noticed.
 */
export function filePins(path: string = pinFile()): PinStore {
  return {
    load: async (origin, vaultId) => (await read(path)).pins.find((pin) => isOf(pin, origin, vaultId)) ?? null,
    save: (pin) =>
      change(path, (stored) => ({
        ...stored,
        pins: [...stored.pins.filter((other) => !isOf(other, pin.origin, pin.vaultId)), pin],
      })),
    loadGeneration: async (chainObjectId) => {
      const { generations } = await read(path);
      const text = Object.hasOwn(generations, chainObjectId) ? generations[chainObjectId] : undefined;
      return text === undefined ? null : BigInt(text);
    },
    // Another process may have seen a later one meanwhile: it never goes back.
    saveGeneration: (chainObjectId, generation) =>
      change(path, (stored) => {
        const known = BigInt(stored.generations[chainObjectId] ?? "0");
        const highest = generation > known ? generation : known;
        return { ...stored, generations: { ...stored.generations, [chainObjectId]: String(highest) } };
      }),
  };
}

function isOf(pin: VaultPin, origin: string, vaultId: string): boolean {
  return pin.origin === origin && pin.vaultId === vaultId;
}

async function read(path: string): Promise<Stored> {
  try {
    return z.parse(storedPins, JSON.parse(await readFile(path, "utf8")));
  } catch (error) {
    if (fileErrorCode(error) === "ENOENT") return { version: 1, pins: [], generations: {} };
    throw configurationError(`The file ${path} does not hold the pins of vaults: repair it from a copy`);
  }
}

async function change(path: string, next: (stored: Stored) => Stored): Promise<void> {
  await makePrivateDirectory(dirname(path));
  await using lock = await acquireLock(`${path}.lock`, LOCK_WAIT_MS);
  if (lock === null) throw configurationError(`Another process keeps ${path} locked`);
  await replaceFile(path, `${JSON.stringify(next(await read(path)), null, 2)}\n`);
}
