import { comparePlaces, NO_END, type Place } from "./place.ts";

/** The members at each time: the part of the vault object on chain that verification needs (file-format §6). */
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

/** One read of the vault object. Its maker answers for how fresh it is. */
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
  /** The last place that counts, for a reader of an export; absent: wherever the vault has come. */
  readonly upTo?: Place;
}

/** Where the vault is now: the latest end that the chain's time has reached, of an entry that no act has marked yet. */
export function placeOf({ generation, members, time }: VaultView): Place {
  let after = 0n;
  for (const { endsAt, until } of members)
    if (until === null && endsAt <= time && endsAt > after && endsAt !== NO_END) after = endsAt;
  return { generation, after };
}

/** Whether the view has come so far. For a later place it has no members: read the vault object again first. */
export function isReached({ generation, time, upTo }: VaultView, place: Place): boolean {
  if (upTo !== undefined && comparePlaces(place, upTo) > 0) return false;
  return place.generation <= generation && place.after <= time;
}

/** The signing key of `address` at a place, or null: no member then, one whose time was over, or one who had set none. */
export function findSigner(view: VaultView, address: Uint8Array, place: Place): Uint8Array | null {
  return findEntry(view, address, place, true)?.signingKey ?? null;
}

/** Whether `address` was owner or member at a place. */
export function isMemberIn(view: VaultView, address: Uint8Array, place: Place): boolean {
  return findEntry(view, address, place, false) !== null;
}

/** The first entry that holds there. `signs`: only one with a signing key. Every file that is read asks several times. */
function findEntry(view: VaultView, address: Uint8Array, place: Place, signs: boolean): MemberEntry | null {
  if (!isReached(view, place)) return null;
  const fits = (entry: MemberEntry): boolean =>
    (!signs || entry.signingKey.length > 0) && appliesTo(entry, address, place);
  if (fits(view.owner)) return view.owner;
  for (const entry of view.members)
    if ((entry.until === null || place.generation <= entry.until) && fits(entry)) return entry;
  for (const entry of view.former) if (place.generation <= entry.until && fits(entry)) return entry;
  return null;
}

/** Addresses are public: the comparison may stop at the first difference, since a vault has up to 3,000 entries. */
function appliesTo({ since, endsAt, address: named }: MemberEntry, address: Uint8Array, place: Place): boolean {
  if (since > place.generation || place.after >= endsAt || named.length !== address.length) return false;
  for (let at = 0; at < named.length; at += 1) if (named[at] !== address[at]) return false;
  return true;
}
