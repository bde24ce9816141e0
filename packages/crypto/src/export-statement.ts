/** A member's statement about an export of a vault: these files, all of them, at that time (file-format §12). */
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes, equalBytes } from "./bytes.ts";
import { SIGNATURE_BYTES } from "./ed25519.ts";
import { damaged } from "./errors.ts";
import { FieldReader, sized, u64 } from "./fields.ts";
import { placeOf, type VaultView } from "./membership.ts";
import { requireSigned, type TrustedVault } from "./reading-order.ts";
import { encodePlace, readPlace, type Place } from "./place.ts";
import { signStatement } from "./signatures.ts";
import { readSafeNumber } from "./statement-chain.ts";
import type { Author, StatementSigner } from "./statement-signer.ts";
import { requireOwnKey } from "./vault-key-sealer.ts";

/** The fields, in the order in which they are signed; the place is the vault's when it was exported. Byte arrays have exactly the length given. */
export interface ExportFields extends Place {
  /** 32 bytes: the vault object's id. */
  readonly vault: Uint8Array;
  /** 32 bytes: SHA-256 of the manifest as stored. */
  readonly manifestDigest: Uint8Array;
  /** 32 bytes: the chain address whose key signed. */
  readonly signer: Uint8Array;
  /** Milliseconds since 1970, by the signer's clock. At most 2^53 - 1. */
  readonly time: number;
}

export interface ExportStatement extends ExportFields {
  /** 64 bytes. */
  readonly signature: Uint8Array;
  /** The whole signed statement, 184 bytes. */
  readonly bytes: Uint8Array;
}

export const EXPORT_STATEMENT_BYTES = 184;

/** Throws CryptoError `wrong_key` at step `export` when the author's key is not the one on chain now. `time`: milliseconds since 1970; `place`: a later one, if one was seen. */
export async function makeExportStatement(
  view: VaultView,
  author: Author,
  manifest: Uint8Array,
  time: number,
  place: Place = placeOf(view),
): Promise<ExportStatement> {
  requireOwnKey(view, author, place, "export");
  const fields = { vault: view.vault, ...place, manifestDigest: sha256(manifest), signer: author.address, time };
  return signExportStatement(fields, author.signer);
}

/** RangeError for fields of other lengths than {@link ExportFields} gives. */
export async function signExportStatement(fields: ExportFields, signer: StatementSigner): Promise<ExportStatement> {
  const body = concatBytes(
    sized(fields.vault, 32, "vault"),
    encodePlace(fields),
    sized(fields.manifestDigest, 32, "manifest digest"),
    sized(fields.signer, 32, "signer"),
    u64(fields.time),
  );
  return parseExportStatement(concatBytes(body, await signStatement("coffer/export/v1", body, signer)));
}

/**
 * Reads 184 bytes. Throws CryptoError `damaged` at step `export`. {@link verifyExportStatement} decides whether you
 * may trust it.
 */
export function parseExportStatement(bytes: Uint8Array): ExportStatement {
  if (bytes.length !== EXPORT_STATEMENT_BYTES)
    throw damaged("export", `an export's statement has ${EXPORT_STATEMENT_BYTES} bytes, not ${bytes.length}`);
  const reader = new FieldReader(bytes);
  const fields: ExportFields = {
    vault: reader.read(32),
    ...readPlace(reader, "export"),
    manifestDigest: reader.read(32),
    signer: reader.read(32),
    time: readSafeNumber(reader, "export"),
  };
  return { ...fields, signature: reader.read(SIGNATURE_BYTES), bytes: Uint8Array.from(bytes) };
}

/**
 * Checks the vault, the signature by a key of that generation, the floor, and that this manifest was signed. Throws
 * CryptoError at step `pins` (`vault_changed`) or `export` (`damaged`, `rolled_back`).
 */
export async function verifyExportStatement(
  place: TrustedVault,
  manifest: Uint8Array,
  bytes: Uint8Array,
): Promise<ExportStatement> {
  const statement = parseExportStatement(bytes);
  const body = statement.bytes.subarray(0, -SIGNATURE_BYTES);
  await requireSigned(place, statement, { title: "coffer/export/v1", body }, "export");
  if (!equalBytes(sha256(manifest), statement.manifestDigest))
    throw damaged("export", "the manifest is not the one that was signed");
  return statement;
}
