/** Uploads into public vaults: the content is stored as it is. */
import { filesGroup, foldersGroup, vaultsGroup } from "@coffer/contract";
import { HOW_TO_OPEN } from "../connection/how-to-open.ts";
import type { CallOptions, Connection } from "../connection/options.ts";
import { sharedCode } from "../connection/shared-code.ts";
import { callOn } from "../http/call.ts";
import { VaultError } from "../http/errors.ts";
import { tagged } from "../http/tag.ts";
import type { WireFile } from "../storage/file.ts";
import type { Source } from "./source.ts";
import type { EncodedUpload, UploadCodec, UploadResult, UploadTarget } from "./upload-codec.ts";

/** The source decides what can be read again, and its bytes are no secret that a second reading could give away. */
export class PlainCodec implements UploadCodec {
  readonly #connection: Connection;
  readonly #upload: EncodedUpload;

  constructor(connection: Connection, target: UploadTarget, bytes: Source, idempotencyKey: string | undefined) {
    this.#connection = connection;
    this.#upload = { target, bytes, contentSize: bytes.size, idempotencyKey, stored: null };
  }

  encode(): Promise<EncodedUpload> {
    return Promise.resolve(this.#upload);
  }

  /** No statement says whose a version is: of two with the same bytes nobody can tell which one this upload has stored. */
  findStored(): Promise<null> {
    return Promise.resolve(null);
  }

  recover(): Promise<boolean> {
    return Promise.resolve(false);
  }

  /** The sender has compared size and digest with what it sent. */
  async receipt(file: WireFile): Promise<UploadResult> {
    const { vaultId } = this.#upload.target;
    const result = { file: tagged(file), bytes: file.size, sha256: file.sha256 };
    if (this.#connection.sharedVaults !== null && vaultId !== undefined)
      await (await sharedCode(this.#connection)).requireCreated(this.#connection, vaultId, result.file);
    return result;
  }
}

/** Vaults, folders and files seen before: a vault's type never changes, and nothing leaves its vault. */
const publicIds = new WeakMap<Connection, Set<string>>();

/**
 * A client that cannot encrypt sends nothing to a shared vault: the service would refuse it, but only after it had seen it.
 * @throws VaultError `shared_vault`.
 */
export async function requirePublic(
  connection: Connection,
  target: UploadTarget,
  signal: AbortSignal | undefined,
): Promise<void> {
  const id = target.kind === "file" ? (target.vaultId ?? target.folderId) : target.fileId;
  const seen = publicIds.get(connection) ?? new Set<string>();
  publicIds.set(connection, seen);
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
async function isShared(
  connection: Connection,
  target: UploadTarget,
  id: string,
  options: CallOptions,
): Promise<boolean> {
  if (target.kind === "version")
    return (await callOn(connection, filesGroup.get, { params: { fileId: id } }, options)).file.shared !== null;
  if (target.vaultId === undefined)
    return (await callOn(connection, foldersGroup.get, { params: { folderId: id } }, options)).folder.shared !== null;
  return (await callOn(connection, vaultsGroup.get, { params: { vaultId: id } }, options)).vault.type !== "public";
}
