/** What the service holds signed statements to (file-format §7, §8): place, key, predecessor, who signs, and the signature. */
import { hash } from "node:crypto";
import { ENTRY_STATEMENT, KEY_RECORD, SIGNATURE_BYTES, UPLOAD_TITLE, VERSION_STATEMENT } from "@coffer/contract";
import { ServiceError } from "../../service-error.ts";
import { isSignedMessage, isSignedMessageAside } from "../chain-proofs/ed25519.ts";
import type { Writer } from "../reach/access.ts";
import { comparePlaces, isReached, type Place, placeOf } from "../reach/places.ts";
import { invalid, ZERO_DIGEST, type EntryStatement, type KeyRecord, type VersionStatement } from "./statements.ts";

/** What holds beside the statement itself. */
export interface Expected {
  /** The current record of the statement's place in hex; null: there is none, and so no statement fits. */
  readonly keyId: string | null;
  /** The signed statement that this one follows; null: it is the item's first. */
  readonly before: { readonly digest: string; readonly count: number } | null;
}

/**
 * Holds a version statement to vault, place, key, predecessor, signer and signature; `writer` is `requireWriter`'s for the
 * statement's own place. The caller compares ids, header, lengths and digests with what was sent.
 * @throws ServiceError `statement_invalid`, which says what does not fit.
 */
export function requireVersion(writer: Writer, statement: VersionStatement, { keyId, before }: Expected): void {
  requirePlace(writer, statement, "version");
  requireKey(statement.keyId, keyId, "version");
  requireSuccession({ count: statement.sequence, previous: statement.previous }, before, "version");
  requireSigned(writer, signedOf(statement), "version");
}

function signedOf({ bytes, sibling, fieldsDigest }: VersionStatement): Signed {
  return sibling === null ? lone(VERSION_STATEMENT.title, bytes) : both(fieldsDigest, sibling, bytes);
}

/** Looks at the signatures of many versions in the thread pool, so that {@link requireVersion} need not. It refuses nothing. */
export async function verifyAhead({ member }: Writer, statements: readonly VersionStatement[]): Promise<void> {
  const { signingKey } = member;
  await Promise.all(
    statements.map(async (statement) => {
      const { message, name, signature } = nameSigned(signingKey, signedOf(statement));
      if (verified.has(name)) return;
      if (await isSignedMessageAside(message, { publicKey: signingKey, signature })) cacheVerified(name);
    }),
  );
}

/** The same for an entry statement. In a vault with plain names there is no key to name. */
export function requireEntry(writer: Writer, statement: EntryStatement, { keyId, before }: Expected): void {
  requirePlace(writer, statement, "entry");
  requireKey(statement.keyId, writer.chain.plainNames ? ZERO_DIGEST : keyId, "entry");
  requireSuccession({ count: statement.revision, previous: statement.previous }, before, "entry");
  const { bytes, sibling, fieldsDigest } = statement;
  requireSigned(
    writer,
    sibling === null ? lone(ENTRY_STATEMENT.title, bytes) : both(sibling, fieldsDigest, bytes),
    "entry",
  );
}

/** The same for a vault key's record: its creator has made the key, and signs for both. */
export function requireRecord(writer: Writer, record: KeyRecord): void {
  requirePlace(writer, { ...record, signer: record.creator }, "record");
  if (record.maker !== record.creator) throw invalid("record: another made the key than who publishes it");
  const body = Buffer.from(record.bytes.subarray(0, KEY_RECORD.maker[0]));
  const made = { title: KEY_RECORD.madeTitle, body, signature: Buffer.from(record.made, "hex") };
  requireSigned(writer, made, "record");
  requireSigned(writer, lone(KEY_RECORD.title, record.bytes), "record");
}

/**
 * The same for a key that was sealed again, also of an earlier place: its creator signs for that with its later key. That
 * its maker is still named, the caller has compared with the record before.
 */
export function requireSealedAgain(writer: Writer, record: KeyRecord): void {
  requireOwn(writer, { ...record, signer: record.creator }, "record");
  if (writer.member.since > record.generation)
    throw invalid("record: the caller's signing key is younger than its generation");
  if (!isReached(writer.chain, record)) throw new ServiceError("generation_moved");
  requireSigned(writer, lone(KEY_RECORD.title, record.bytes), "record");
}

interface Claim extends Place {
  readonly vault: string;
  readonly signer: string;
}

/**
 * At the vault's place, or at a later one that it has reached. An end that was extended a moment before it came takes
 * back the place that somebody may have seen (decision 0036). No earlier place is allowed: a former member could sign
 * there.
 */
function requirePlace(writer: Writer, claim: Claim, what: string): void {
  const { chain } = writer;
  requireOwn(writer, claim, what);
  const isNow = claim.generation === chain.generation && isReached(chain, claim);
  if (!isNow || comparePlaces(claim, placeOf(chain)) < 0) throw new ServiceError("generation_moved");
}

function requireOwn({ chain, member }: Writer, { vault, signer }: Claim, what: string): void {
  if (vault !== chain.objectId) throw invalid(`${what}: it is for another vault`);
  if (signer !== member.address) throw invalid(`${what}: the signer is not the caller's chain address`);
}

function requireKey(named: string, current: string | null, what: string): void {
  if (current === null) throw invalid(`${what}: the place has no vault key yet`);
  if (named !== current) throw invalid(`${what}: it names another vault key than the current one of its place`);
}

function requireSuccession(
  { count, previous }: { readonly count: number; readonly previous: string },
  before: Expected["before"],
  what: string,
): void {
  const follows = before === null ? 1 : before.count + 1;
  if (count !== follows) throw invalid(`${what}: its number is ${count}, the next one is ${follows}`);
  if (previous !== (before?.digest ?? ZERO_DIGEST)) throw invalid(`${what}: it does not follow the current one`);
}

/**
 * A version and the entry that comes with it are of one signature, one member and one file: what one upload makes is one act. A version
 * that comes alone was signed alone.
 * @throws ServiceError `statement_invalid`.
 */
export function requireOneAct(version: VersionStatement, entry: EntryStatement | null): void {
  if (version.sibling !== (entry?.fieldsDigest ?? null))
    throw invalid("version: it was not signed together with the entry that comes with it");
  if (entry === null) return;
  if (entry.sibling !== version.fieldsDigest)
    throw invalid("entry: it was not signed together with the version that comes with it");
  const isOne =
    entry.vault === version.vault &&
    entry.signer === version.signer &&
    entry.generation === version.generation &&
    entry.after === version.after &&
    entry.kind === "file" &&
    entry.id === version.fileId;
  if (!isOne) throw invalid("entry: it is not of the version's vault, signer, place and file");
}

/** A new name or place alone: its entry was not signed with a version, which would be missing. Throws `statement_invalid`. */
export function requireSignedAlone(entry: EntryStatement): void {
  if (entry.sibling !== null) throw invalid("entry: it was signed together with a version, which did not come");
}

/** What a signature is of. */
interface Signed {
  readonly title: string;
  readonly body: Uint8Array;
  readonly signature: Uint8Array;
}

function lone(title: string, bytes: Uint8Array): Signed {
  const end = bytes.length - SIGNATURE_BYTES;
  return { title, body: bytes.subarray(0, end), signature: bytes.subarray(end) };
}

function both(version: string, entry: string, bytes: Uint8Array): Signed {
  const signature = bytes.subarray(bytes.length - SIGNATURE_BYTES);
  return { title: UPLOAD_TITLE, body: Buffer.from(version + entry, "hex"), signature };
}

/**
 * Signatures that were found good, by SHA-256 of key, signature and all that is signed. A request asks before it reads
 * its bytes, again when it stores them, and for both statements of an upload. The signature met longest ago gives way.
 */
const verified = new Set<string>();
const MOST_VERIFIED = 4096;

function requireSigned({ member }: Writer, signed: Signed, what: string): void {
  const { signingKey } = member;
  const { message, name, signature } = nameSigned(signingKey, signed);
  if (!verified.has(name) && !isSignedMessage(message, { publicKey: signingKey, signature }))
    throw invalid(`${what}: the signature is not of the caller's signing key`);
  cacheVerified(name);
}

/** Key and signature have fixed lengths, and no title holds a zero byte: no two signatures share a name. */
function nameSigned(signingKey: Uint8Array, { title, body, signature }: Signed) {
  const message = Buffer.concat([Buffer.from(`${title}\0`), body]);
  return { message, signature, name: hash("sha256", Buffer.concat([signingKey, signature, message]), "base64") };
}

function cacheVerified(name: string): void {
  verified.delete(name);
  verified.add(name);
  const oldest = verified.size > MOST_VERIFIED ? verified.keys().next().value : undefined;
  if (oldest !== undefined) verified.delete(oldest);
}
