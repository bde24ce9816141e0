/** Uploads by the kind of vault: encrypted here into a shared one, unchanged into a public one. */
import { filesGroup, vaultsGroup, foldersGroup } from "@coffer/contract";
import { callOn } from "../http/call.ts";
import { ContractError, VaultError } from "../http/errors.ts";
import type { Connection, CallOptions } from "../connection/options.ts";
import { HOW_TO_OPEN } from "../connection/how-to-open.ts";
import { sharedCode } from "../connection/shared-code.ts";
import { type Fields, NEW_ITEM, refuseUndefinedPlaces, refuseUnknownFields, VERSION } from "../http/required-fields.ts";
import type { SharedUploadTarget } from "../shared-vaults/content/new-version.ts";
import type { OpenVault } from "../shared-vaults/open-vault.ts";
import { openSource, type Source } from "./source.ts";
import type { Target, UploadResult } from "./upload-codec.ts";
import { uploadSource, type SendingOptions } from "./sender.ts";
import type { UploadJournal } from "./journals.ts";
import type { ReplaceInput, UploadInput, UploadOptions } from "./upload-options.ts";

const REPLACE_FIELDS: Fields<Omit<ReplaceInput, "body" | "size">> = {
  contentType: true,
  vaultId: true,
  ifMatch: true,
  keep: true,
};
const UPLOAD_FIELDS: Fields<Omit<UploadInput, "body" | "size">> = {
  contentType: true,
  vaultId: true,
  folderId: true,
  name: true,
  ifAbsent: true,
};
export const UPLOAD_OPTIONS: Fields<UploadOptions> = {
  signal: true,
  idempotencyKey: true,
  onProgress: true,
  retries: true,
  padded: true,
  partBytes: true,
};

export async function uploadFile(
  connection: Connection,
  input: UploadInput,
  options: UploadOptions = {},
): Promise<UploadResult> {
  refuseUnknownFields(filesGroup.upload.id, options, UPLOAD_OPTIONS);
  return sendUpload(connection, input, options);
}

export async function sendUpload(
  connection: Connection,
  { body, size, ...input }: UploadInput,
  options: SendingOptions,
): Promise<UploadResult> {
  refuseUnknownFields(filesGroup.upload.id, input, UPLOAD_FIELDS);
  refuseUndefinedPlaces(filesGroup.upload.id, input, NEW_ITEM);
  return sendSource(connection, { kind: "file", ...input }, openSource(body, size), options);
}

export async function replaceFile(
  connection: Connection,
  fileId: string,
  { body, size, ...input }: ReplaceInput,
  options: UploadOptions = {},
): Promise<UploadResult> {
  refuseUnknownFields(filesGroup.replace.id, input, REPLACE_FIELDS);
  refuseUnknownFields(filesGroup.replace.id, options, UPLOAD_OPTIONS);
  refuseUndefinedPlaces(filesGroup.replace.id, input, VERSION);
  return sendSource(
    connection,
    { kind: "version", fileId, ...input },
    openSource(body, size, filesGroup.replace.id),
    options,
  );
}

/** Closes the source. */
export async function sendSource(
  connection: Connection,
  target: Target,
  source: Source,
  options: SendingOptions,
  journal?: UploadJournal,
): Promise<UploadResult> {
  const found = await findTarget(connection, target, source, options);
  if (found.vault !== null) {
    await refuseKeepingNothing(target, source);
    const { uploadShared } = await sharedCode(connection);
    return uploadShared(connection, found.vault, found.target, source, { ...options, journal });
  }
  const result = await uploadSource(connection, found.target, source, options, journal);
  if (connection.sharedVaults !== null && found.target.vaultId !== undefined)
    await (await sharedCode(connection)).requireCreated(connection, found.target.vaultId, result.file);
  return result;
}

/** @throws ContractError `invalid_request`. */
async function refuseKeepingNothing(target: Target, source: Source): Promise<void> {
  if (target.kind === "file" || target.keep !== false) return;
  await source.close();
  throw new ContractError("request", filesGroup.replace.id, ["keep: a shared vault always keeps what is replaced"]);
}

type Found =
  | { readonly vault: OpenVault; readonly target: SharedUploadTarget }
  /** A public vault, or one that the service chooses for clients without `sharedVaults`. */
  | { readonly vault: null; readonly target: Target };

async function findTarget(
  connection: Connection,
  target: Target,
  source: Source,
  { signal }: UploadOptions,
): Promise<Found> {
  try {
    if (connection.sharedVaults === null) {
      await requirePublic(connection, target, signal);
      return { vault: null, target };
    }
    const { findPlace, findVaultOf } = await sharedCode(connection);
    if (target.kind === "file") {
      const place = await findPlace(connection, target, { signal });
      if (place === null) return { vault: null, target };
      const { vault, vaultId } = place;
      return vault === null
        ? { vault, target: { ...target, vaultId } }
        : { vault, target: { ...target, name: target.name ?? "" } };
    }
    const { file } = await callOn(connection, filesGroup.get, { params: { fileId: target.fileId } }, { signal });
    const vault = await findVaultOf(connection, file, { signal, vaultId: target.vaultId, sends: true });
    return vault === null
      ? { vault, target: { ...target, vaultId: file.vaultId } }
      : { vault, target: { ...target, file } };
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** Vaults, folders and files seen before: a vault's type never changes, and nothing leaves its vault. */
const known = new WeakMap<Connection, Set<string>>();

/**
 * A client that cannot encrypt sends nothing to a shared vault: the service would refuse it, but only after it had seen it.
 * @throws VaultError `shared_vault`.
 */
export async function requirePublic(
  connection: Connection,
  target: Target,
  signal: AbortSignal | undefined,
): Promise<void> {
  const id = target.kind === "file" ? (target.vaultId ?? target.folderId) : target.fileId;
  const seen = known.get(connection) ?? new Set<string>();
  known.set(connection, seen);
  if (id === undefined || seen.has(id)) return;
  if (await isShared(connection, target, id, { signal }))
    throw new VaultError("shared_vault", "This client has no chain key and no network, which shared vaults need", {
      retryable: false,
      step: null,
      cause: undefined,
      nextStep: HOW_TO_OPEN,
    });
  seen.add(id);
}

/** `id`: of the vault; without one of the folder, which names its vault; or of the file. */
async function isShared(connection: Connection, target: Target, id: string, options: CallOptions): Promise<boolean> {
  if (target.kind === "version")
    return (await callOn(connection, filesGroup.get, { params: { fileId: id } }, options)).file.shared !== null;
  if (target.vaultId === undefined)
    return (await callOn(connection, foldersGroup.get, { params: { folderId: id } }, options)).folder.shared !== null;
  return (await callOn(connection, vaultsGroup.get, { params: { vaultId: id } }, options)).vault.type !== "public";
}
