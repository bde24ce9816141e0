/** What this client holds a vault to, whatever the service says later (encryption design §2, pins). */

export interface VaultPin {
  /** The service's origin, and its id of the vault. */
  readonly origin: string;
  readonly vaultId: string;
  /** False: a public vault. A pinned shared vault is never read or written in the clear. */
  readonly shared: boolean;
  /** The chain object; null for a public vault. */
  readonly chainObjectId: string | null;
  /** Its owner when it was pinned; a new owner is told, not taken silently. */
  readonly ownerAddress: string | null;
  /** Chain id of the network. */
  readonly chainId: string | null;
}

/** Where pins and what was seen are kept between runs; in memory unless one is given. Both may be called at any time. */
export interface PinStore {
  load(origin: string, vaultId: string): Promise<VaultPin | null>;
  save(pin: VaultPin): Promise<void>;
  /** The highest generation seen of a chain object; null: none yet. */
  loadGeneration(chainObjectId: string): Promise<bigint | null>;
  saveGeneration(chainObjectId: string, generation: bigint): Promise<void>;
}

/** Forgets with the process. */
export function memoryPins(): PinStore {
  const pins = new Map<string, VaultPin>();
  const generations = new Map<string, bigint>();
  const keyOf = (origin: string, vaultId: string): string => `${origin} ${vaultId}`;
  return {
    load: (origin, vaultId) => Promise.resolve(pins.get(keyOf(origin, vaultId)) ?? null),
    save: (pin) => {
      pins.set(keyOf(pin.origin, pin.vaultId), pin);
      return Promise.resolve();
    },
    loadGeneration: (chainObjectId) => Promise.resolve(generations.get(chainObjectId) ?? null),
    saveGeneration: (chainObjectId, generation) => {
      generations.set(chainObjectId, generation);
      return Promise.resolve();
    },
  };
}
