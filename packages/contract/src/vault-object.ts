/**
 * The vault object on the chain: its fields in the order in which BCS writes them (encryption design §3). The
 * service's chain driver and `@coffer/chain` read it with this; test/move compares it with the compiled module.
 */

/**
 * How a value is written: an address is 32 bytes, integers are little endian. `bytes`, lists and a digest begin with their
 * length (ULEB128), which is 32 for a digest.
 */
type Form =
  | "address"
  | "u64"
  | "u8"
  | "bool"
  | "digest"
  | { readonly bytes: { readonly most: number } }
  | { readonly option: Form }
  | { readonly list: Form; readonly most: number }
  | { readonly fields: Readonly<Record<string, Form>> };

/** The limits of one vault. */
export const VAULT_OBJECT_LIMITS = { members: 1000, former: 1800, signingKeyBytes: 32 } as const;

const DIGEST_BYTES = 32;
const ENTRY = { chainAddress: "address", signingKey: { bytes: { most: 32 } }, since: "u64" } as const;
const MEMBER = { ...ENTRY, endsAt: "u64", until: "u64", replacedKeys: "u8" } as const;
const FORMER = { ...ENTRY, until: "u64", endsAt: "u64" } as const;

/** The `endsAt` of a membership that has no end: the largest u64. */
export const NO_END_ON_CHAIN: bigint = (1n << 64n) - 1n;

/** The fields in order. The Move names are the same words with underscores. */
export const VAULT_OBJECT_FIELDS = {
  id: "address",
  generation: "u64",
  floor: "u64",
  base: "u64",
  plainNames: "bool",
  owner: { fields: MEMBER },
  offered: { option: "address" },
  members: { list: { fields: MEMBER }, most: VAULT_OBJECT_LIMITS.members },
  former: { list: { fields: FORMER }, most: VAULT_OBJECT_LIMITS.former },
  oldest: "u64",
  /** An act that gives a right names it: the transaction of the owner's last act, or of the last acceptance. */
  last: "digest",
  /** What `last` was before that transaction. */
  before: "digest",
} as const satisfies Readonly<Record<string, Form>>;

/** The decoded object. Addresses are `0x` and 64 lower-case hex digits, digests 64 of them; `signingKey` has 32 bytes, or none while its member only reads. */
export type VaultObjectFields = Decoded<{ readonly fields: typeof VAULT_OBJECT_FIELDS }>;
/**
 * One entry of the allowlist. It holds from generation `since`, until `endsAt` (milliseconds since 1970, or
 * {@link NO_END_ON_CHAIN}). `until` is the last generation in which it held, once it is marked as ended; before that
 * 0.
 */
export type VaultObjectMember = VaultObjectFields["owner"];
/** A closed entry; it held from generation `since` to `until`, both included, at places before `endsAt`. */
export type VaultObjectFormer = VaultObjectFields["former"][number];

/** The object's full type, for the package's original id. */
export function vaultObjectType(originalPackageId: string): string {
  return `${originalPackageId}::vault::Vault`;
}

/**
 * Decodes the BCS contents of a vault object.
 * @throws RangeError for bytes that are no vault object from the first to the last, or that hold more than a vault
 * may.
 */
export function decodeVaultObject(contents: Uint8Array): VaultObjectFields {
  const bytes = new ByteReader(contents);
  const fields = decode(bytes, { fields: VAULT_OBJECT_FIELDS }) as VaultObjectFields;
  if (!bytes.isAtEnd()) throw new RangeError("Bytes are left over behind the vault object");
  for (const { signingKey } of [fields.owner, ...fields.members, ...fields.former])
    if (signingKey.length !== 0 && signingKey.length !== VAULT_OBJECT_LIMITS.signingKeyBytes)
      throw new RangeError("A signing key has 32 bytes or none");
  return fields;
}

type Decoded<F> = F extends "address" | "digest"
  ? string
  : F extends "u64"
    ? bigint
    : F extends "u8"
      ? number
      : F extends "bool"
        ? boolean
        : F extends { readonly bytes: unknown }
          ? Uint8Array
          : F extends { readonly option: infer Inner }
            ? Decoded<Inner> | null
            : F extends { readonly list: infer Item }
              ? readonly Decoded<Item>[]
              : F extends { readonly fields: infer Fields }
                ? { readonly [Name in keyof Fields]: Decoded<Fields[Name]> }
                : never;

function decode(bytes: ByteReader, form: Form): unknown {
  if (form === "address") return `0x${toHex(bytes.read(32))}`;
  if (form === "u64") return bytes.readU64();
  if (form === "u8") return bytes.read(1)[0];
  if (form === "bool") return bytes.readLength(1) === 1;
  if (form === "digest") return toHex(bytes.readDigest());
  if ("bytes" in form) return Uint8Array.from(bytes.read(bytes.readLength(form.bytes.most)));
  if ("option" in form) return bytes.readLength(1) === 1 ? decode(bytes, form.option) : null;
  if ("list" in form) return Array.from({ length: bytes.readLength(form.most) }, () => decode(bytes, form.list));
  return Object.fromEntries(Object.entries(form.fields).map(([name, field]) => [name, decode(bytes, field)]));
}

class ByteReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  read(length: number): Uint8Array {
    const bytes = this.#bytes.subarray(this.#at, this.#at + length);
    if (bytes.length !== length) throw new RangeError("The vault object ends too early");
    this.#at += length;
    return bytes;
  }

  readU64(): bigint {
    const bytes = this.read(8);
    return new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true);
  }

  readDigest(): Uint8Array {
    if (this.readLength(DIGEST_BYTES) !== DIGEST_BYTES) throw new RangeError("A digest has 32 bytes");
    return this.read(DIGEST_BYTES);
  }

  /** ULEB128 in its shortest form, with a bound, so that a false length allocates nothing. */
  readLength(most: number): number {
    let value = 0;
    for (let shift = 0; shift < 21; shift += 7) {
      const [byte = 0] = this.read(1);
      value += (byte & 0x7f) << shift;
      if (byte >= 0x80) continue;
      if (value > most || (byte === 0 && shift > 0)) break;
      return value;
    }
    throw new RangeError("The vault object holds more than a vault may");
  }

  isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
