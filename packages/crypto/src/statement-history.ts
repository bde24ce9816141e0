/** Whole histories of a file or an entry, as an export bundle or an audit reads them (file-format §8). */
import { equalBytes } from "./bytes.ts";
import type { EntryStatement } from "./entry-statement.ts";
import { CryptoError, damaged, type CryptoStep } from "./errors.ts";
import { comparePlaces } from "./place.ts";
import { NO_PREVIOUS, statementHash } from "./statement-chain.ts";
import type { VersionStatement } from "./version-statement.ts";

/**
 * Throws unless `next` is about the same file and follows `previous`, or is a first one if that is null. CryptoError
 * at step `statement`: `damaged` for another file, `rolled_back` for another place in the history. Does not check
 * signatures.
 */
export function requireNextVersion(previous: VersionStatement | null, next: VersionStatement): void {
  if (previous !== null && (previous.fileId !== next.fileId || !equalBytes(previous.vault, next.vault)))
    throw damaged("statement", "the statements are of two files");
  requireNext(previous, previous?.sequence ?? 0n, next, next.sequence, "statement");
}

/** The same for entries, at step `entry`. */
export function requireNextEntry(previous: EntryStatement | null, next: EntryStatement): void {
  const same = (one: EntryStatement): boolean =>
    one.kind === next.kind && one.id === next.id && equalBytes(one.vault, next.vault);
  if (previous !== null && !same(previous)) throw damaged("entry", "the statements are of two entries");
  requireNext(previous, previous?.revision ?? 0n, next, next.revision, "entry");
}

type Link = Pick<VersionStatement, "bytes" | "generation" | "after" | "previous">;

function requireNext(previous: Link | null, before: bigint, next: Link, number: bigint, step: CryptoStep): void {
  const hash = previous === null ? NO_PREVIOUS : statementHash(previous.bytes);
  const follows = number === before + 1n && equalBytes(next.previous, hash);
  if (!follows || (previous !== null && comparePlaces(next, previous) < 0))
    throw new CryptoError("rolled_back", step, "the statement does not follow the one before it");
}
