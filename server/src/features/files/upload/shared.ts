/**
 * Content that goes to a shared vault: encrypted bytes, and signed statements about them. The statements must be of the vault, of a live
 * member's key, of the place and the predecessor, and of these very bytes.
 */
import type { SharedFile } from "@coffer/contract";
import type { Principal, RequestContext } from "../../../handler.ts";
import type { Queries } from "../../../ports/database.ts";
import type { FileRow } from "../../../ports/tables.ts";
import { ServiceError } from "../../../service-error.ts";
import { nameColumn, refuseOutdatedName, requireFolderKey } from "../../folder-names/entries.ts";
import { type Changing, newPlace } from "../../items/changing.ts";
import { findMadeItem } from "../../items/made.ts";
import { requireWriter, type SeenVault } from "../../reach/access.ts";
import type { ExpectedWrite } from "../../reach/permits.ts";
import { watchMembership } from "../../reach/watching.ts";
import { verifyAhead } from "../../shared-vaults/statement-rules.ts";
import { isKeptVersion } from "../kept-versions-store.ts";
import { DEFAULT_CONTENT_TYPE, sharedOf } from "../rules.ts";
import { holdingToVersion, requireSignedSize } from "./encrypted-start.ts";
import { mergeShared, requireFittingUpload, type SignedUpload } from "./signed-upload.ts";
import type { Basis, FileColumns, NewFile, NewVersion, UploadDeps, Verifier, VersionColumns } from "./verifier.ts";

export class SharedVerifier implements Verifier {
  readonly #vault: SeenVault;
  readonly #signed: SignedUpload;

  constructor(vault: SeenVault, signed: SignedUpload) {
    this.#vault = vault;
    this.#signed = signed;
  }

  get write(): ExpectedWrite {
    return { vault: this.#vault, place: this.#signed.version };
  }

  get leastBytes(): number {
    return this.#signed.version.messageLength;
  }

  requireLength(bytes: number): void {
    requireSignedSize(bytes, this.#signed.version);
  }

  hold(source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    return holdingToVersion(source, this.#signed.version);
  }

  watch(deps: UploadDeps, context: RequestContext<Principal>): void {
    watchMembership(deps, context, this.#vault);
  }

  nameColumn(name: string | undefined): string {
    return nameColumn(this.#vault, mergeShared(this.#signed, null), { name });
  }

  /** Where names are encrypted the content type is too. */
  contentType(sent: string): string {
    return this.#vault.plain_names === 1 ? sent : DEFAULT_CONTENT_TYPE;
  }

  /** Throws what {@link findMadeItem} throws. */
  async findMadeFile(queries: Queries, principal: Principal): Promise<FileRow | null> {
    const { version } = this.#signed;
    const isSame = (row: FileRow) => isMade(row, this.#signed);
    return (await findMadeItem(queries, principal, "file", { id: version.fileId, isSame }))?.row ?? null;
  }

  async refuseEarly(
    deps: UploadDeps,
    principal: Principal,
    basis: Basis | null,
  ): Promise<{ readonly ahead: Promise<void> }> {
    const { version, entry } = this.#signed;
    if (basis?.old != null) requireSameFile(basis.old, this.#signed);
    const writer = await requireWriter(deps, principal, this.#vault, { place: version });
    const ahead = verifyAhead(writer, [version]);
    if (basis === null) return { ahead };
    await ahead;
    const { folderId, old } = basis;
    const wanted = { folderId, old: old === null ? null : sharedOf(old) };
    await requireFittingUpload(deps.database, this.#vault, writer, { signed: this.#signed, wanted });
    // In the trash a name takes no place, so any current key will do there: it is asked about when the file comes back.
    const takesName = old === null || old.trashed_at === null;
    if (entry !== null && takesName) await refuseOutdatedName(deps.database, this.#vault, entry.statement);
    return { ahead };
  }

  async fileColumns({ act, permits }: Changing, file: NewFile, folderId: string | null): Promise<FileColumns> {
    const [vault, signed] = [this.#vault, this.#signed];
    const writer = permits.write(vault, signed.version);
    await requireFittingUpload(act, vault, writer, { signed, wanted: { folderId, old: null } });
    const shared = mergeShared(signed, null);
    const name = nameColumn(vault, shared, { name: file.name });
    if (signed.entry !== null) await requireFolderKey(act, vault, signed.entry.statement);
    return {
      id: signed.version.fileId,
      version_id: signed.version.versionId,
      name,
      content_type: this.contentType(file.contentType ?? DEFAULT_CONTENT_TYPE),
      encrypted: 1,
      shared_json: JSON.stringify(shared),
    };
  }

  async versionColumns(
    { act, permits }: Changing,
    version: NewVersion,
    { old, folderId }: { readonly old: FileRow; readonly folderId: string | null },
  ): Promise<VersionColumns> {
    const [vault, signed] = [this.#vault, this.#signed];
    const writer = permits.write(vault, signed.version);
    requireSameFile(old, signed);
    const before = requireShared(old);
    if (signed.entry === null && (version.name !== undefined || folderId !== old.folder_id))
      throw new ServiceError("validation_failed", "A new name or place comes with a signed entry");
    await requireFittingUpload(act, vault, writer, { signed, wanted: { folderId, old: before } });
    await requireNewVersionId(act, old, signed);
    const shared = mergeShared(signed, before);
    const name = signed.entry === null ? old.name : nameColumn(vault, shared, { name: version.name, old: old.name });
    if (signed.entry !== null && old.trashed_at === null) await requireFolderKey(act, vault, signed.entry.statement);
    const entry = newPlace(old, { name, folderId }) ?? "content";
    // The entry that gave the name is kept, so that its signature shows who did. What new content brings after that is not.
    const replacesEntry = entry !== "content" || (signed.entry !== null && old.entry_how !== entry);
    return {
      columns: {
        version_id: signed.version.versionId,
        name,
        content_type: this.contentType(version.contentType ?? old.content_type),
        shared_json: JSON.stringify(shared),
      },
      how: signed.restores === null ? "replace" : "restore",
      entry: replacesEntry ? entry : null,
      authorKey: signed.version.signer,
    };
  }
}

/** Whether the row is what this very upload makes. */
export function isMade(row: FileRow, signed: SignedUpload): boolean {
  return sharedOf(row)?.version === signed.text;
}

function requireSameFile(old: FileRow, signed: SignedUpload): void {
  if (signed.version.fileId !== old.id)
    throw new ServiceError("statement_invalid", "version: it is about another file");
}

function requireShared(row: FileRow): SharedFile {
  const shared = sharedOf(row);
  if (shared === null) throw new Error(`file ${row.id} lies in a shared vault without statements`);
  return shared;
}

/** An id of a version that readers may still ask for must go on meaning that one. */
async function requireNewVersionId(queries: Queries, old: FileRow, { version }: SignedUpload): Promise<void> {
  const { versionId } = version;
  if (versionId === old.version_id || (await isKeptVersion(queries, { fileId: old.id, versionId })))
    throw new ServiceError("statement_invalid", "version: the version id was used before");
}
