/**
 * The vault of a file or folder, in this machine's own memory. It comes from statements seen in pinned shared vaults,
 * and from the vaults that callers have named in public ones. All processes of the machine share it, and no answer of
 * the service changes it.
 */
import { digestOf, toHex } from "../../transfer/digest.ts";
import type { PinStore, VaultPin } from "./pins.ts";
import type { SeenMemory } from "./seen-memory.ts";

/** null: unknown. */
export type FindHome = (itemId: string) => VaultPin | null;

export interface Homes {
  /** In the memory that all processes share by now. */
  read(): Promise<FindHome>;
  /** Notes that a file or folder lies in a public vault. */
  recordPublic(pin: VaultPin, itemId: string): Promise<void>;
  /** One file or folder of the vault, or with null all of it. Durable when it resolves. */
  forget(pin: VaultPin, itemId: string | null): Promise<void>;
}

export function openHomes(origin: string, pins: PinStore, memoryOf: (objectId: string) => Promise<SeenMemory>): Homes {
  const publicObjects = new Map<string, Promise<string>>();
  const open = async (pin: VaultPin): Promise<SeenMemory> => {
    if (pin.chainObjectId !== null) return memoryOf(pin.chainObjectId);
    const object = publicObjects.get(pin.vaultId) ?? publicObject(pin);
    publicObjects.set(pin.vaultId, object);
    return memoryOf(await object);
  };
  return {
    read: async () => {
      const memories = await Promise.all(
        (await pins.list(origin)).map(async (pin) => ({ pin, memory: await open(pin) })),
      );
      await Promise.all(memories.map(({ memory }) => memory.refresh()));
      const [shared, clear] = [memories.filter(({ pin }) => pin.shared), memories.filter(({ pin }) => !pin.shared)];
      return (itemId) => {
        const isSeen = ({ memory }: { readonly memory: SeenMemory }): boolean =>
          (memory.find("entry", itemId) ?? memory.find("version", itemId)) !== null;
        // A member's signature counts for more than a caller's belief that the vault is public.
        return (shared.find(isSeen) ?? clear.find(isSeen))?.pin ?? null;
      };
    },
    recordPublic: async (pin, itemId) => {
      const memory = await open(pin);
      memory.record("entry", itemId, PUBLIC);
      // Where nothing can be written, this process remembers.
      await memory.flush().catch(() => undefined);
    },
    forget: async (pin, itemId) => (await open(pin)).forget(itemId),
  };
}

/** A public vault has no signatures: the memory keeps only that the item is there. */
const PUBLIC = { number: 0n, generation: 0n, after: 0n, hash: new Uint8Array(32) };

/** Marks a public vault where shared ones have their chain object. */
async function publicObject({ origin, vaultId }: VaultPin): Promise<string> {
  const name = new TextEncoder().encode(`coffer/public-vault/v1\0${origin}\0${vaultId}`);
  return `0x${toHex(await digestOf(name))}`;
}
