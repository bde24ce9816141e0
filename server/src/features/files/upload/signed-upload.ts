/** What comes with the content of a shared vault's file: the signed version, and perhaps the signed entry of its name. */
import type { SharedEntry, SharedFile } from "@coffer/contract";
import type { Queries } from "../../../ports/database.ts";
import { ServiceError } from "../../../service-error.ts";
import { parseSignedEntry, requireFittingEntryAt, requireUuid, type SignedEntry } from "../../folder-names/entries.ts";
import type { SeenVault, Writer } from "../../reach/access.ts";
import { requireOneAct, requireVersion } from "../../shared-vaults/statement-rules.ts";
import { parseVersionStatement, type VersionStatement } from "../../shared-vaults/statements.ts";
import { findCurrentKeyId } from "../../vault-keys/store.ts";
import { requireEncryptedHeader } from "./encrypted-start.ts";

/** Nothing of it is verified yet. */
export interface SignedUpload {
  readonly text: string;
  readonly version: VersionStatement;
  /** null: the file keeps the entry that it has. */
  readonly entry: SignedEntry | null;
  /** The kept version whose content the sender writes again; null: none. Nobody signs that. */
  readonly restores: string | null;
}

/** As it is sent: in headers, in tus metadata, in the row of an upload. Base64 and hex. */
export type SentUpload = { readonly [Part in keyof SharedFile | "restores"]?: string | undefined };

interface SharedHeaders {
  readonly "coffer-version"?: string | undefined;
  readonly "coffer-entry"?: string | undefined;
  readonly "coffer-metadata"?: string | undefined;
  readonly "coffer-name-index"?: string | undefined;
  readonly "coffer-restores"?: string | undefined;
}

export function sentInHeaders(headers: SharedHeaders): SentUpload {
  return {
    version: headers["coffer-version"],
    entry: headers["coffer-entry"],
    metadata: headers["coffer-metadata"],
    nameIndex: headers["coffer-name-index"],
    restores: headers["coffer-restores"],
  };
}

/**
 * null: nothing was sent. Throws `validation_failed` for parts that need each other, `statement_invalid` and `not_encrypted` for
 * statements of the wrong form.
 */
export function parseSignedUpload({ version, restores, ...sent }: SentUpload): SignedUpload | null {
  const entry = wholeEntry(sent);
  if (version === undefined) {
    if (entry === null && restores === undefined) return null;
    throw new ServiceError("validation_failed", "An entry, and what is restored, come with a version statement");
  }
  const statement = parseVersionStatement(version);
  requireEncryptedHeader(statement.header);
  requireUuid(statement.fileId, "version");
  requireUuid(statement.versionId, "version");
  const signed = entry === null ? null : parseSignedEntry(entry);
  requireOneAct(statement, signed?.statement ?? null);
  return { text: version, version: statement, entry: signed, restores: restores ?? null };
}

function wholeEntry({ entry, metadata, nameIndex }: Omit<SentUpload, "version" | "restores">): SharedEntry | null {
  if (entry === undefined && metadata === undefined && nameIndex === undefined) return null;
  if (entry === undefined || metadata === undefined || nameIndex === undefined)
    throw new ServiceError("validation_failed", "Entry, metadata and name index come together");
  return { entry, metadata, nameIndex };
}

export interface WantedUpload {
  /** null: the top of the vault. */
  readonly folderId: string | null;
  /** The file's current statements; null: a new file. */
  readonly old: SharedFile | null;
}

/**
 * Holds both statements to vault, file, place, predecessors, key and signer.
 * @throws ServiceError `statement_invalid`, `generation_moved`.
 */
export async function requireFittingUpload(
  queries: Queries,
  vault: SeenVault,
  writer: Writer,
  { signed, wanted }: { readonly signed: SignedUpload; readonly wanted: WantedUpload },
): Promise<void> {
  const { version, entry } = signed;
  const { generation, after } = version;
  const keyId = await findCurrentKeyId(queries, { vaultId: vault.id, generation, after });
  requireVersion(writer, version, {
    keyId,
    before: wanted.old === null ? null : predecessorOf(wanted.old),
  });
  if (entry === null) return;
  // The entry is of the version's place: both are one act.
  requireFittingEntryAt(writer, keyId, { signed: entry, wanted: { kind: "file", id: version.fileId, ...wanted } });
}

function predecessorOf(old: SharedFile): { digest: string; count: number } {
  const { digest, sequence } = parseVersionStatement(old.version);
  return { digest, count: sequence };
}

/** The statements that the row holds from now on. */
export function mergeShared(signed: SignedUpload, old: SharedFile | null): SharedFile {
  const entry = signed.entry?.shared ?? old;
  if (entry === null) throw new ServiceError("validation_failed", "A new file comes with a signed entry");
  return { version: signed.text, entry: entry.entry, metadata: entry.metadata, nameIndex: entry.nameIndex };
}
