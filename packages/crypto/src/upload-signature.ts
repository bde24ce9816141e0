/** One signature for one act: a version and the entry that comes with it (file-format §8). */
import { concatBytes, equalBytes } from "./bytes.ts";
import { SIGNATURE_BYTES } from "./ed25519.ts";
import type { EntryStatement } from "./entry-statement.ts";
import { damaged, type CryptoError } from "./errors.ts";
import { titleBytes } from "./fields.ts";
import { comparePlaces } from "./place.ts";
import { sha256Of } from "./sha256.ts";
import { SIBLING_BYTES } from "./statement-chain.ts";
import type { SignedTitle } from "./signatures.ts";
import type { VersionStatement } from "./version-statement.ts";

/** The parts of a signature. */
export interface SignedPart {
  readonly title: SignedTitle;
  readonly body: Uint8Array;
}

export type StatementTitle = "coffer/version/v1" | "coffer/entry/v1";

/** A statement's fields under its own title, 32 bytes: neither kind fits the other's place. */
export function bodyDigest(title: StatementTitle, body: Uint8Array): Uint8Array {
  return sha256Of(titleBytes(title), body);
}

/** Both digests, the version's first. */
export function uploadPart(version: Uint8Array, entry: Uint8Array): SignedPart {
  return { title: "coffer/upload/v1", body: concatBytes(version, entry) };
}

type Signed<Statement extends VersionStatement | EntryStatement> = Pick<Statement, "bytes" | "sibling">;

export function versionPart(version: Signed<VersionStatement>): SignedPart {
  const { sibling } = version;
  if (sibling !== null) return uploadPart(versionDigest(version), sibling);
  return { title: "coffer/version/v1", body: bodyOf(version) };
}

export function entryPart(entry: Signed<EntryStatement>): SignedPart {
  const { sibling } = entry;
  if (sibling !== null) return uploadPart(sibling, entryDigest(entry));
  return { title: "coffer/entry/v1", body: bodyOf(entry) };
}

/**
 * For a version and an entry that are shown together. They need not be of one act: either may have been replaced
 * since. Two that name each other must be one member's, about one file. Throws CryptoError `damaged` at step `ids`.
 */
export function requireSiblings(version: VersionStatement, entry: EntryStatement): void {
  const [named, names] = [isNamed(version, entryDigest(entry)), isNamed(entry, versionDigest(version))];
  if (!named && !names) return;
  if (!named || !names) throw notOneAct();
  requireOneAct(version, entry);
}

/** For two that name each other. Throws CryptoError `damaged` at step `ids`. */
export function requireOneAct(version: VersionStatement, entry: EntryStatement): void {
  const isOneAct =
    equalBytes(version.vault, entry.vault) &&
    equalBytes(version.signer, entry.signer) &&
    comparePlaces(version, entry) === 0 &&
    entry.kind === "file" &&
    entry.id === version.fileId;
  if (!isOneAct) throw notOneAct();
}

function notOneAct(): CryptoError {
  return damaged("ids", "version and entry were signed together, and are not of one member and one file");
}

function isNamed({ sibling }: { readonly sibling: Uint8Array | null }, digest: Uint8Array): boolean {
  return sibling !== null && equalBytes(sibling, digest);
}

/** By the statement's own bytes: verifying it and comparing it with its sibling both ask. */
const digests = {
  "coffer/version/v1": new WeakMap<Uint8Array, Uint8Array>(),
  "coffer/entry/v1": new WeakMap<Uint8Array, Uint8Array>(),
};

function versionDigest(version: Signed<VersionStatement>): Uint8Array {
  return digestOnce("coffer/version/v1", version);
}

function entryDigest(entry: Signed<EntryStatement>): Uint8Array {
  return digestOnce("coffer/entry/v1", entry);
}

function digestOnce(title: StatementTitle, statement: Signed<VersionStatement | EntryStatement>): Uint8Array {
  const digest = digests[title].get(statement.bytes) ?? bodyDigest(title, bodyOf(statement));
  digests[title].set(statement.bytes, digest);
  return digest;
}

function bodyOf({ bytes, sibling }: Signed<VersionStatement | EntryStatement>): Uint8Array {
  return bytes.subarray(0, -SIGNATURE_BYTES - (sibling === null ? 0 : SIBLING_BYTES));
}
