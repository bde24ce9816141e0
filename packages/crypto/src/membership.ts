/** Who was a member when: the part of the vault object on chain that verification needs (file-format §6). */
export interface MemberEntry {
  /** 32 bytes. */
  readonly address: Uint8Array;
  /** The Ed25519 key that signs this member's statements: 32 bytes, or none while the member only reads. */
  readonly signingKey: Uint8Array;
  /** The first generation in which this entry holds. */
  readonly since: bigint;
  /** When the membership ends, in milliseconds since 1970; {@link NO_END} for never. */
  readonly endsAt: bigint;
}

/** An entry on the allowlist. One that has ended stays there, marked, until it is swept. */
export interface ListedEntry extends MemberEntry {
  /** The last generation in which it held; null while it is not marked as ended. */
  readonly until: bigint | null;
}

/** An entry that was closed: by removal, by leaving, by its end, by another signing key, by another owner. */
export interface FormerEntry extends MemberEntry {
  /** The last generation in which it held. */
  readonly until: bigint;
}

/** One read of the vault object. How fresh it is answers for who made it. */
export interface VaultView {
  /** 32 bytes: the object's id. */
  readonly vault: Uint8Array;
  readonly generation: bigint;
  /** Nothing below this generation is read any more: the owner has had it all encrypted again. */
  readonly floor: bigint;
  /** The generation that the last rotation began with: no step of the ladder leads below it. */
  readonly base: bigint;
  /** The chain's time at this read, in milliseconds since 1970. */
  readonly time: bigint;
  /** Names are not encrypted; fixed when the vault was made. */
  readonly plainNames: boolean;
  readonly owner: MemberEntry;
  readonly members: readonly ListedEntry[];
  readonly former: readonly FormerEntry[];
}

/** The signing key of `address` in `generation`, or null: no member then, or one who had set none. */
export function findSigner(view: VaultView, address: Uint8Array, generation: bigint): Uint8Array | null {
  for (const entry of entriesIn(view, address, generation)) if (entry.signingKey.length > 0) return entry.signingKey;
  return null;
}

/** Whether `address` was owner or member in `generation`. */
export function isMemberIn(view: VaultView, address: Uint8Array, generation: bigint): boolean {
  return !entriesIn(view, address, generation).next().done;
}

/** A generation that the view does not know yet has no members: read the vault object again first. */
function* entriesIn(view: VaultView, address: Uint8Array, generation: bigint): Generator<MemberEntry, void> {
  if (generation > view.generation) return;
  if (holds(view.owner, address, generation)) yield view.owner;
  for (const entry of view.members) if (holds(entry, address, generation)) yield entry;
  for (const entry of view.former) if (generation <= entry.until && holds(entry, address, generation)) yield entry;
}

/** Addresses are public: the comparison may stop at the first difference, since a vault has up to 3,000 entries. */
function holds(entry: MemberEntry, address: Uint8Array, generation: bigint): boolean {
  if (entry.since > generation || entry.address.length !== address.length) return false;
  return entry.address.every((byte, index) => byte === address[index]);
}
