/** The client's pin of a vault, whatever the service says later (encryption design §7, pins). */

export interface VaultPin {
  /** The service's origin, such as `https://coffer.example`. */
  readonly origin: string;
  /** UUID of the vault. */
  readonly vaultId: string;
  /** false: a public vault. A pinned shared vault is never read or written in the clear. */
  readonly shared: boolean;
  /** The chain object; null for a public vault. */
  readonly chainObjectId: string | null;
  /** Its owner when it was pinned. The client reports a new owner, and never accepts one silently. */
  readonly ownerAddress: string | null;
  /** Chain id of the network. */
  readonly chainId: string | null;
}

/**
 * What is remembered of a chain object beside its pin: the highest numbers seen, which a read never lowers, and what
 * its owner has given.
 */
export interface Highest {
  /** The highest generation that the chain has shown. */
  readonly generation: bigint;
  /**
   * The latest end of a membership that was reached in that generation, in milliseconds since 1970: writers write
   * after it. Absent: 0.
   */
  readonly after?: bigint;
  /** The highest floor: nothing of an earlier generation is accepted. */
  readonly floor: bigint;
  /** The highest generation that a rotation began: no step of the ladder is made that leads below it. Absent: 0. */
  readonly base?: bigint;
  /** Higher numbers that one node has shown, and nobody has confirmed yet: nothing is written below them. Absent: none. */
  readonly candidates?: readonly Candidate[];
  /** Whether names are plain in this vault, as the chain showed it first: it is fixed in the vault object. Absent: not seen yet. */
  readonly plainNames?: boolean;
  /** Rights that this machine's owner gave, by transactions that may still be executed. Absent: none. */
  readonly given?: readonly GivenRight[];
  /** Makers of vault keys that the chain has shown as members. Absent: none. */
  readonly makers?: readonly SeenMaker[];
  /** Place and `check`, in hex, of the vault keys that this machine has made, the newest last. Absent: none. */
  readonly made?: readonly string[];
}

/** A right in a vault, noted before the transaction was sent that gives it. */
export interface GivenRight {
  /** A membership, with its end; or the ownership, which was offered. */
  readonly of: "member" | "ownership";
  /** Whose right it is. */
  readonly chainAddress: string;
  /** The owner's act that the transaction names, as the vault object showed it: 64 hex digits. */
  readonly last: string;
  /** When it was noted: milliseconds since 1970, by this machine's clock. */
  readonly since: number;
  /** Whether a node answered it, or a later act. That is one node's word, so it may still be executed. */
  readonly isAnswered: boolean;
}

/** The member who made a vault key, as the chain showed it on the list of a generation. */
export interface SeenMaker {
  /** The generation. */
  readonly generation: bigint;
  /** The chain address: 64 hex digits. */
  readonly address: string;
  /** When it was shown first: milliseconds since 1970, by this machine's clock. */
  readonly since: number;
}

/** Numbers that one node has shown, and nobody has confirmed yet. */
export interface Candidate {
  /** The generation that was shown. */
  readonly generation: bigint;
  /** As in {@link Highest}. */
  readonly after?: bigint;
  /** The floor that was shown. */
  readonly floor: bigint;
  /** As in {@link Highest}. */
  readonly base?: bigint;
  /** When it was shown first: milliseconds since 1970, by this machine's clock. */
  readonly since: number;
}

/** A store for pins and the highest numbers between runs; in memory unless one is given. You may call its methods at any time. */
export interface PinStore {
  /** The pin of one vault; null: there is none. */
  load(origin: string, vaultId: string): Promise<VaultPin | null>;
  /** Every pin of one service. */
  list(origin: string): Promise<readonly VaultPin[]>;
  /**
   * Compares and sets, also between processes. Keeps `pin` if `expected` is the present pin; null: if there is none.
   * False: there is another pin, and nothing was changed.
   */
  save(expected: VaultPin | null, pin: VaultPin): Promise<boolean>;
  /** Zeros: nothing was seen of the chain object yet. */
  loadHighest(chainObjectId: string): Promise<Highest>;
  /**
   * Reads, changes and writes in one step, which no other process interrupts; resolves with the stored result.
   * `change` may run more than once, and changes nothing else.
   */
  changeHighest(chainObjectId: string, change: (kept: Highest) => Highest): Promise<Highest>;
}

export function isSamePin(one: VaultPin | null, other: VaultPin | null): boolean {
  if (one === null || other === null) return one === other;
  const names = Object.keys(one) as (keyof VaultPin)[];
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}

/** Forgets with the process. */
export function memoryPins(): PinStore {
  const pins = new Map<string, VaultPin>();
  const highest = new Map<string, Highest>();
  const keyOf = (origin: string, vaultId: string): string => `${origin} ${vaultId}`;
  const changeHighest: PinStore["changeHighest"] = (chainObjectId, change) => {
    const changed = change(highest.get(chainObjectId) ?? { generation: 0n, floor: 0n });
    highest.set(chainObjectId, changed);
    return Promise.resolve(changed);
  };
  return {
    load: (origin, vaultId) => Promise.resolve(pins.get(keyOf(origin, vaultId)) ?? null),
    list: (origin) => Promise.resolve([...pins.values()].filter((pin) => pin.origin === origin)),
    save: (expected, pin) => {
      const key = keyOf(pin.origin, pin.vaultId);
      const isExpected = isSamePin(pins.get(key) ?? null, expected);
      if (isExpected) pins.set(key, pin);
      return Promise.resolve(isExpected);
    },
    loadHighest: (chainObjectId) => changeHighest(chainObjectId, (kept) => kept),
    changeHighest,
  };
}
