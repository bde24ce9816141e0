/** One raw request with all bytes of a new file or a version, and the check of its answer. */
import { filesGroup } from "@coffer/contract";
import type { CallOptions, Connection } from "../connection/options.ts";
import type { ByteBody } from "../http/byte-body.ts";
import { callOn } from "../http/call.ts";
import { IntegrityError } from "../http/errors.ts";
import type { File } from "../storage/file.ts";
import { toBase64 } from "./digest.ts";
import type { SharedStatements, UploadTarget } from "./upload-codec.ts";

/** `digest`: the SHA-256 of the body. null: only its end shows it. */
export async function requestStore(
  connection: Connection,
  target: UploadTarget,
  body: ByteBody,
  digest: Uint8Array | null,
  options: CallOptions,
): Promise<File> {
  const common = {
    ...(target.contentType === undefined ? {} : { "content-type": target.contentType }),
    ...sharedHeaders(target.shared),
    ...(digest === null ? {} : { "repr-digest": `sha-256=:${toBase64(digest)}:` }),
  };
  if (target.kind === "version") {
    const headers = { ...common, ...(target.ifMatch === undefined ? {} : { "if-match": target.ifMatch }) };
    const { fileId, keep } = target;
    const input = { params: { fileId }, query: keep === undefined ? {} : { keep }, headers, body };
    return (await callOn(connection, filesGroup.replace, input, options)).file;
  }
  const { vaultId, folderId, name, ifAbsent } = target;
  const query = {
    ...(name === null ? {} : { name }),
    ...(vaultId === undefined ? {} : { vaultId }),
    ...(folderId === undefined ? {} : { folderId }),
  };
  const headers = { ...common, ...(ifAbsent === true ? ({ "if-none-match": "*" } as const) : {}) };
  return (await callOn(connection, filesGroup.upload, { query, headers, body }, options)).file;
}

function sharedHeaders(shared: SharedStatements | undefined) {
  if (shared === undefined) return {};
  return {
    "coffer-version": shared.version,
    "coffer-entry": shared.entry,
    "coffer-metadata": shared.metadata,
    "coffer-name-index": shared.nameIndex,
    ...(shared.restores === undefined ? {} : { "coffer-restores": shared.restores }),
  };
}

/**
 * Compares the server's record with the sent bytes.
 * @throws IntegrityError
 */
export function requireSameBytes(file: File, bytes: number, sha256: string): File {
  if (file.size === bytes && file.sha256 === sha256) return file;
  throw new IntegrityError(
    `The server holds other bytes than were sent: file ${file.id} has ${String(file.size)} of ${String(bytes)} bytes or another digest`,
  );
}
