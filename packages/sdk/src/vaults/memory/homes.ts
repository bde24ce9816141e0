/**
 * In which vault a file or folder lies, as this machine knows it: the statements that were seen in pinned shared vaults, and what its callers
 * have named in public ones. All processes of the machine share it, and no answer of the service changes it.
 */
import { digestOf, toHex } from "../../digest.ts";
import type { PinStore, VaultPin } from "./pins.ts";
import type { SeenMemory } from "./seen.ts";

/** null: not known. */
export type FindHome = (itemId: string) => VaultPin | null;

export interface Homes {
  /** As all processes know it by now. */
  look(): Promise<FindHome>;
  /** Notes that a file or folder lies in a public vault. */
  notePublic(pin: VaultPin, itemId: string): Promise<void>;
  /** One file or folder of the vault, or with null all of it. Durable when it resolves. */
  forget(pin: VaultPin, itemId: string | null): Promise<void>;
}

export function openHomes(origin: string, pins: PinStore, memoryOf: (objectId: string) => Promise<SeenMemory>): Homes {
  const open = async (pin: VaultPin): Promise<SeenMemory> => memoryOf(pin.chainObjectId ?? (await publicObject(pin)));
  return {
    look: async () => {
      const known = await Promise.all((await pins.list(origin)).map(async (pin) => ({ pin, memory: await open(pin) })));
      await Promise.all(known.map(({ memory }) => memory.refresh()));
      const [shared, clear] = [known.filter(({ pin }) => pin.shared), known.filter(({ pin }) => !pin.shared)];
      return (itemId) => {
        const isSeen = ({ memory }: { readonly memory: SeenMemory }): boolean =>
          (memory.find("entry", itemId) ?? memory.find("version", itemId)) !== null;
        // What a member has signed counts for more than what a caller took for public.
        return (shared.find(isSeen) ?? clear.find(isSeen))?.pin ?? null;
      };
    },
    notePublic: async (pin, itemId) => {
      (await open(pin)).note("entry", itemId, PUBLIC);
    },
    forget: async (pin, itemId) => (await open(pin)).forget(itemId),
  };
}

/** In a public vault nothing is signed: that the item lies there is all that is kept. */
const PUBLIC = { number: 0n, generation: 0n, after: 0n, hash: new Uint8Array(32) };

/** What stands for a public vault where shared ones have their chain object. */
async function publicObject({ origin, vaultId }: VaultPin): Promise<string> {
  const name = new TextEncoder().encode(`coffer/public-vault/v1\0${origin}\0${vaultId}`);
  return `0x${toHex(await digestOf(name))}`;
}
