/** Uploads: what callers give, and the codec for the kind of vault that it goes to. */
import { filesGroup } from "@coffer/contract";
import type { Connection } from "../connection/options.ts";
import { sharedCode } from "../connection/shared-code.ts";
import { callOn } from "../http/call.ts";
import { typeOfBytes } from "../http/accepted-bytes.ts";
import type { ByteBody } from "../http/accepted-bytes.ts";
import { ContractError } from "../http/errors.ts";
import { type Fields, NEW_ITEM, refuseUndefinedPlaces, refuseUnknownFields, VERSION } from "../http/required-fields.ts";
import { PlainCodec, requirePublic } from "./plain-codec.ts";
import { openSource, type Source } from "./source.ts";
import type { UploadCodec, UploadResult, UploadTarget } from "./upload-codec.ts";
import type { ReplaceInput, UploadInput, UploadOptions } from "./upload-options.ts";
import { runUpload, type RunOptions } from "./upload-runner.ts";

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
  return uploadInput(connection, input, options);
}

export async function uploadInput(
  connection: Connection,
  { body, size, ...input }: UploadInput,
  options: RunOptions,
): Promise<UploadResult> {
  refuseUnknownFields(filesGroup.upload.id, input, UPLOAD_FIELDS);
  refuseUndefinedPlaces(filesGroup.upload.id, input, NEW_ITEM);
  const source = openSource(body, size);
  return upload(connection, { kind: "file", ...withType(input, body) }, source, options);
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
  const source = openSource(body, size, filesGroup.replace.id);
  return upload(connection, { kind: "version", fileId, ...withType(input, body) }, source, options);
}

/** With the media type that the bytes bring along, unless the caller names one. */
function withType<Input extends { readonly contentType?: string | undefined }>(input: Input, body: ByteBody): Input {
  return input.contentType === undefined ? { ...input, contentType: typeOfBytes(body) } : input;
}

/** Closes the source and the journal. */
export function upload(
  connection: Connection,
  target: UploadTarget,
  source: Source,
  options: RunOptions,
): Promise<UploadResult> {
  return runUpload(connection, source, options, () => openCodec(connection, target, source, options));
}

/** Encrypted into a shared vault; unchanged into a public one, or into one that the service chooses for clients without `sharedVaults`. */
async function openCodec(
  connection: Connection,
  target: UploadTarget,
  source: Source,
  options: RunOptions,
): Promise<UploadCodec> {
  const { idempotencyKey, signal } = options;
  const plain = (to: UploadTarget): UploadCodec => new PlainCodec(connection, to, source, idempotencyKey);
  if (connection.sharedVaults === null) {
    await requirePublic(connection, target, signal);
    return plain(target);
  }
  const { findPlace, findVaultOf, openEncryptedCodec } = await sharedCode(connection);
  if (target.kind === "file") {
    const place = await findPlace(connection, target, { signal });
    if (place === null) return plain(target);
    const { vault, vaultId } = place;
    if (vault === null) return plain({ ...target, vaultId });
    return openEncryptedCodec(connection, vault, { ...target, name: target.name ?? "" }, source, options);
  }
  const { file } = await callOn(connection, filesGroup.get, { params: { fileId: target.fileId } }, { signal });
  const vault = await findVaultOf(connection, file, { signal, vaultId: target.vaultId, sends: true });
  if (vault === null) return plain({ ...target, vaultId: file.vaultId });
  if (target.keep === false)
    throw new ContractError("request", filesGroup.replace.id, ["keep: a shared vault always keeps what is replaced"]);
  return openEncryptedCodec(connection, vault, { ...target, file }, source, options);
}
