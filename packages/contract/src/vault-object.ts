/**
 * The vault object on the chain: its fields in the order in which BCS writes them (encryption design §3). The service's chain driver and
 * `@coffer/chain` read it with this; test/move holds it against the compiled module.
 */

/** How a field is written: an address is 32 bytes, `bytes` are length-prefixed, an option is a vector of at most one. */
type FieldForm = "address" | "u64" | "bool" | "bytes" | { readonly option: "address" } | ListForm;

interface ListForm {
  readonly list: Readonly<Record<string, "address" | "u64" | "bytes">>;
  readonly most: number;
}

const MEMBER = { chainAddress: "address", signingKey: "bytes", since: "u64" } as const;
const FORMER = { ...MEMBER, until: "u64" } as const;

/** What one vault holds at most. */
export const VAULT_OBJECT_LIMITS = { members: 1000, former: 2000 } as const;

/** The type is `<original package id>::vault::Vault`; `owner` is one entry, the others are as many as their length says. */
export const VAULT_OBJECT = {
  module: "vault",
  name: "Vault",
  fields: {
    id: "address",
    generation: "u64",
    floor: "u64",
    plainNames: "bool",
    owner: { list: MEMBER, most: 1 },
    offered: { option: "address" },
    members: { list: MEMBER, most: VAULT_OBJECT_LIMITS.members },
    former: { list: FORMER, most: VAULT_OBJECT_LIMITS.former },
  },
} as const satisfies {
  readonly module: string;
  readonly name: string;
  readonly fields: Readonly<Record<string, FieldForm>>;
};

/** An entry of the allowlist; addresses are `0x` and 64 lower-case hex digits. */
export interface VaultObjectMember {
  readonly chainAddress: string;
  /** Ed25519, 32 bytes; empty while the member only reads. */
  readonly signingKey: Uint8Array;
  /** The first generation in which the entry holds. */
  readonly since: bigint;
}

/** An entry that was closed. */
export interface VaultObjectFormer extends VaultObjectMember {
  /** The last generation in which it held. */
  readonly until: bigint;
}

export interface VaultObjectFields {
  readonly id: string;
  readonly generation: bigint;
  readonly floor: bigint;
  readonly plainNames: boolean;
  readonly owner: VaultObjectMember;
  /** Who may accept the ownership; null: nobody. */
  readonly offered: string | null;
  readonly members: readonly VaultObjectMember[];
  readonly former: readonly VaultObjectFormer[];
}

/** The fields of a vault object's BCS contents, or null for bytes that are no vault object, from the first to the last. */
export function decodeVaultObject(contents: Uint8Array): VaultObjectFields | null {
  const bytes = new Cursor(contents);
  try {
    const { id, generation, floor, plainNames, offered, members, former } = VAULT_OBJECT.fields;
    const fields: VaultObjectFields = {
      id: bytes.read(id),
      generation: bytes.read(generation),
      floor: bytes.read(floor),
      plainNames: bytes.read(plainNames),
      owner: bytes.readEntry(MEMBER),
      offered: bytes.readOption(offered),
      members: bytes.readList(members),
      former: bytes.readList(former),
    };
    return bytes.isAtEnd() ? fields : null;
  } catch (cause) {
    if (cause instanceof RangeError) return null;
    throw cause;
  }
}

interface Values {
  readonly address: string;
  readonly u64: bigint;
  readonly bool: boolean;
  readonly bytes: Uint8Array;
}
