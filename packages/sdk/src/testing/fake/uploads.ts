/** Uploads in parts in the fake: tus 1.0 in the service's form. */
import { HEADERS, newNameProblem, TUS_VERSION, type api } from "@coffer/contract";
import { fromBase64, toBase64 } from "../../transfer/digest.ts";
import { Failure, Reply, type GroupHandlers } from "../handlers.ts";
import { createFile, replaceContent, requireFreePlace, requireReplaceable, type NewPlace } from "./content.ts";
import { notFound, type Caller, type State, type UploadRow } from "./state.ts";

const LIFETIME_MS = 24 * 3_600_000;
/** What `Upload-Checksum` may name. */
const DIGESTS: Readonly<Record<string, string>> = { sha256: "SHA-256", sha1: "SHA-1" };

export function uploadHandlers(state: State): Omit<GroupHandlers<typeof api.uploads, Caller>, "options"> {
  const read = (caller: Caller, id: string): UploadRow => {
    const upload = state.uploads.get(id);
    if (upload?.accountId !== caller.accountId) throw notFound("Upload");
    return upload;
  };
  const headersOf = (upload: UploadRow): Record<string, string> => ({
    "tus-resumable": TUS_VERSION,
    "upload-offset": String(upload.bytes.length),
    "upload-length": String(upload.length),
    "upload-expires": new Date(state.now() + LIFETIME_MS).toUTCString(),
    ...(upload.fileId === null ? {} : { [HEADERS.fileId]: upload.fileId }),
  });
  return {
    create: async ({ headers, body }, caller) => {
      refuseVersion(headers["tus-resumable"]);
      const upload: UploadRow = {
        accountId: caller.accountId,
        id: crypto.randomUUID(),
        length: headers["upload-length"],
        metadata: parseMetadata(headers["upload-metadata"] ?? ""),
        ifAbsent: headers["if-none-match"] === "*",
        ifMatch: headers["if-match"],
        bytes: new Uint8Array(0),
        fileId: null,
      };
      refuseTarget(state, caller, upload);
      if (body.length > 0 || upload.length === 0) await append(state, caller, upload, body, headers["upload-checksum"]);
      state.uploads.set(upload.id, upload);
      return new Reply<void>(undefined, { headers: { ...headersOf(upload), location: `/api/uploads/${upload.id}` } });
    },
    head: ({ params, headers }, caller) => {
      const upload = read(caller, params.uploadId);
      refuseVersion(headers["tus-resumable"]);
      return new Reply<void>(undefined, { headers: { ...headersOf(upload), "cache-control": "no-store" } });
    },
    append: async ({ params, headers, body }, caller) => {
      const upload = read(caller, params.uploadId);
      refuseVersion(headers["tus-resumable"]);
      if (headers["upload-offset"] !== upload.bytes.length) throw new Failure("offset_mismatch");
      await append(state, caller, upload, body, headers["upload-checksum"]);
      return new Reply<void>(undefined, { headers: headersOf(upload) });
    },
    terminate: ({ params, headers }, caller) => {
      const upload = read(caller, params.uploadId);
      refuseVersion(headers["tus-resumable"]);
      state.uploads.delete(upload.id);
      return new Reply<void>(undefined, { headers: { "tus-resumable": TUS_VERSION } });
    },
  };
}

/** The last part makes the file, unless the bytes wait for a commit. */
async function append(
  state: State,
  caller: Caller,
  upload: UploadRow,
  bytes: Uint8Array,
  checksum: string | undefined,
): Promise<void> {
  if (upload.bytes.length + bytes.length > upload.length)
    throw new Failure("validation_failed", "body: more bytes than Upload-Length");
  await requireChecksum(bytes, checksum);
  const all = new Uint8Array(upload.bytes.length + bytes.length);
  all.set(upload.bytes);
  all.set(bytes, upload.bytes.length);
  upload.bytes = all;
  if (all.length < upload.length) return;
  const { metadata, ifMatch } = upload;
  if (metadata.has("held")) return;
  const content = { bytes: all, contentType: metadata.get("filetype") };
  const fileId = metadata.get("fileId");
  const file =
    fileId === undefined
      ? await createFile(state, caller, placeOf(upload), content)
      : await replaceContent(state, caller, fileId, ifMatch, content);
  upload.fileId = file.id;
}

/** Refuses at once what the end would refuse. */
function refuseTarget(state: State, caller: Caller, upload: UploadRow): void {
  const fileId = upload.metadata.get("fileId");
  if (fileId === undefined) requireFreePlace(state, caller, placeOf(upload));
  else requireReplaceable(state, caller, fileId, upload.ifMatch);
}

function placeOf({ metadata, ifAbsent }: UploadRow): NewPlace {
  const name = metadata.get("filename") ?? "";
  const problem = newNameProblem(name);
  if (problem !== null) throw new Failure("validation_failed", `upload-metadata.filename: ${problem}`);
  return {
    vaultId: metadata.get("vaultId"),
    folderId: metadata.get("folderId"),
    name: name.normalize("NFC"),
    ifAbsent,
  };
}

/** Keys with values in base64, as `Upload-Metadata` has them. */
function parseMetadata(field: string): Map<string, string> {
  const metadata = new Map<string, string>();
  for (const pair of field.split(",").filter((text) => text !== "")) {
    const [key = "", value = "", ...more] = pair.trim().split(" ");
    const bytes = fromBase64(value);
    if (key === "" || bytes === null || more.length > 0)
      throw new Failure("validation_failed", "headers.upload-metadata: not key and base64 value");
    metadata.set(key, new TextDecoder().decode(bytes));
  }
  return metadata;
}

async function requireChecksum(bytes: Uint8Array, checksum: string | undefined): Promise<void> {
  if (checksum === undefined) return;
  const [algorithm = "", expected] = checksum.split(" ");
  const name = DIGESTS[algorithm];
  if (name === undefined) throw new Failure("validation_failed", "headers.upload-checksum: unknown algorithm");
  const digest = new Uint8Array(await crypto.subtle.digest(name, new Uint8Array(bytes)));
  if (toBase64(digest) !== expected) throw new Failure("checksum_mismatch");
}

function refuseVersion(version: string | undefined): void {
  if (version !== TUS_VERSION) throw new Failure("unsupported_tus_version", undefined, { "tus-version": TUS_VERSION });
}
