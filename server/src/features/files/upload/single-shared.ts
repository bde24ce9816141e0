/** One request that brings a file of a shared vault: encrypted bytes, with statements about them in the headers. */
import { refuseTakenName } from "../../items/names.ts";
import type { CreationContext, IncomingBytes, Principal, Recorded } from "../../../handler.ts";
import type { FileRow } from "../../../ports/tables.ts";
import { ServiceError } from "../../../service-error.ts";
import { nameColumn, refuseOutdatedName } from "../../folder-names/entries.ts";
import type { ExpectedWrite } from "../../reach/permits.ts";
import type { FoundPlace } from "../../items/placing.ts";
import type { SeenFile } from "../../reach/items.ts";
import { verifyAhead } from "../../shared-vaults/statement-rules.ts";
import { readVaultFor, requireSight, requireWriter, type SeenVault } from "../../reach/access.ts";
import { watchMembership } from "../../reach/watching.ts";
import { holdingToVersion, requireSignedSize } from "./encrypted-start.ts";
import type { ExpectedDigest } from "../digests.ts";
import { type Incoming, openIncoming, requireRoom } from "./receive.ts";
import { isMultipart } from "./form.ts";
import { DEFAULT_CONTENT_TYPE, sharedOf, toFile } from "../rules.ts";
import { requireFittingUpload, type SignedUpload, type WantedUpload, mergeShared } from "./signed-upload.ts";
import { addSharedFile, addSharedVersion, findMade, requireSameFile } from "./shared.ts";
import { readRoom, storeThenCommit, type NewVersion, type ReceivingDeps, type StoringDeps } from "./commit.ts";

export interface SharedUpload {
  readonly place: FoundPlace & { readonly vault: SeenVault };
  readonly signed: SignedUpload;
  /** In a vault with plain names, and only there. */
  readonly name: string | undefined;
  readonly ifNoneMatch: boolean;
  readonly body: IncomingBytes;
  readonly digests: readonly ExpectedDigest[];
}

/**
 * Most of such a body has come with its headers, so that a refusal before it is read would save nothing. It is checked
 * once, where it is stored. Bytes.
 */
const SMALL_BYTES = 64 * 1024;

/** Whatever can be refused of a large body is refused before its bytes are read, and once more when they are stored. */
export async function uploadShared(
  deps: ReceivingDeps,
  { place, signed, name, ifNoneMatch, body, digests }: SharedUpload,
  context: CreationContext<Principal>,
): Promise<Recorded<{ file: ReturnType<typeof toFile> }>> {
  const { principal } = context;
  const made = await findMade(deps.database, principal, signed);
  if (made !== null) {
    // The account of the vault that holds it, perhaps not that of the named vault.
    await requireSight(deps, principal, await readVaultFor(deps.database, principal, made.vault_id, "File"));
    return recordMade(deps, context, made);
  }
  const named = nameColumn(place.vault, mergeShared(signed, null), { name });
  const isSmall = body.length !== null && body.length <= SMALL_BYTES;
  let verifying = Promise.resolve();
  if (isSmall) {
    const writer = await requireWriter(deps, principal, place.vault, { place: signed.version });
    // In the thread pool, while the disk takes the bytes.
    verifying = verifyAhead(writer, [signed.version]);
  } else {
    await requireEarly(deps, principal, place.vault, { signed, wanted: { folderId: place.folderId, old: null } });
    await refuseTakenName(deps.database, "file", place, { name: named, ifNoneMatch });
  }
  const incoming = await openShared(deps, place.vault, { signed, body, digests });
  watchMembership(deps, context, place.vault);
  const contentType = incoming.contentType ?? DEFAULT_CONTENT_TYPE;
  const file = { vaultId: place.vaultId, folderId: place.folderId, signed, name, contentType, ifNoneMatch };
  return storeThenCommit(
    deps,
    incoming,
    {
      principal,
      recheck: async () => {
        await verifying;
        await context.recheck();
      },
      writes: writesOf(place.vault, signed),
    },
    async (act, content, permits) => {
      const row = await addSharedFile(act, deps, principal, { file, content, permits });
      return context.record(act, { file: toFile(row, principal) });
    },
  );
}

function writesOf(vault: SeenVault, signed: SignedUpload): ExpectedWrite {
  return { vault, place: signed.version };
}

/** For what an earlier request has made. */
export function recordMade(deps: StoringDeps, context: CreationContext<Principal>, row: FileRow) {
  return deps.database.transaction((transaction) =>
    context.record(transaction, { file: toFile(row, context.principal) }),
  );
}

export interface SharedReplacement {
  readonly target: Pick<NewVersion, "fileId" | "ifMatch">;
  readonly signed: SignedUpload;
  readonly body: IncomingBytes;
  readonly digests: readonly ExpectedDigest[];
}

/** `seen`: the file as {@link readFileFor} found it. */
export async function replaceShared(
  deps: ReceivingDeps,
  { row: old, vault }: SeenFile & { readonly vault: SeenVault },
  { target, signed, body, digests }: SharedReplacement,
  context: CreationContext<Principal>,
): Promise<Recorded<{ file: ReturnType<typeof toFile> }>> {
  const { principal } = context;
  requireSameFile(old, signed);
  const wanted = { folderId: old.folder_id, old: sharedOf(old) };
  await requireEarly(deps, principal, vault, { signed, wanted, isTrashed: old.trashed_at !== null });
  const incoming = await openShared(deps, vault, { signed, body, digests });
  watchMembership(deps, context, vault);
  const version = { ...target, contentType: incoming.contentType };
  return storeThenCommit(
    deps,
    incoming,
    { principal, recheck: () => context.recheck(), writes: writesOf(vault, signed) },
    async (act, content, permits) => {
      const row = await addSharedVersion(act, deps, principal, { version, signed, content, permits });
      return context.record(act, { file: toFile(row, principal) });
    },
  );
}

/** Throws `not_encrypted` for an upload to a shared vault without statements, `validation_failed` for a form. */
export function requireSigned(signed: SignedUpload | null, body: IncomingBytes): SignedUpload {
  if (isMultipart(body.contentType))
    throw new ServiceError("validation_failed", "body: a shared vault takes raw bytes, no multipart form");
  if (signed === null)
    throw new ServiceError("not_encrypted", "A shared vault takes encrypted files with their signed statements");
  return signed;
}

/** Refuses what the transaction would refuse, before a byte is read. */
export async function requireEarly(
  deps: StoringDeps,
  principal: Principal,
  vault: SeenVault,
  checked: { readonly signed: SignedUpload; readonly wanted: WantedUpload; readonly isTrashed?: boolean },
): Promise<void> {
  const writer = await requireWriter(deps, principal, vault, { place: checked.signed.version });
  await verifyAhead(writer, [checked.signed.version]);
  await requireFittingUpload(deps.database, vault, writer, checked);
  const { entry } = checked.signed;
  if (entry !== null && checked.isTrashed !== true) await refuseOutdatedName(deps.database, vault, entry.statement);
}

async function openShared(
  deps: StoringDeps,
  vault: SeenVault,
  { signed, body, digests }: { signed: SignedUpload; body: IncomingBytes; digests: readonly ExpectedDigest[] },
): Promise<Incoming> {
  const room = await readRoom(deps.database, deps, vault.account_id);
  if (body.length !== null) requireSignedSize(body.length, signed.version);
  requireRoom(signed.version.messageLength, room);
  const incoming = await openIncoming(body, digests, room);
  return { ...incoming, stream: holdingToVersion(incoming.stream, signed.version) };
}
