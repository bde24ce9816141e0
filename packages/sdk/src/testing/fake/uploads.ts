import {
  HEADERS,
  newNameProblem,
  TUS_CHECKSUMS,
  TUS_EXTENSIONS,
  TUS_VERSION,
  type api,
  type File,
} from "@coffer/contract";
import { toBase64 } from "../../digest.ts";
import { Failure, Reply, type GroupHandlers } from "../handlers.ts";
import { record } from "./audit.ts";
import { requireBudgets } from "./budgets.ts";
import { createFile, replaceContent } from "./content.ts";
import { refuseReplaced } from "./content-tag.ts";
import { refuseTakenName } from "./items.ts";
import { findPlace, notFound, readRow, type Caller, type State, type UploadRow } from "./state.ts";

const LIFETIME_MS = 24 * 3_600_000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** tus 1.0 in the service's form. */
export function uploadHandlers(state: State): GroupHandlers<Omit<typeof api.uploads, "options">, Caller> {
  const read = (caller: Caller, id: string): UploadRow => {
    const upload = state.uploads.get(id);
    if (upload === undefined || upload.accountId !== caller.accountId) throw notFound("Upload");
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
      const conditions = { ifAbsent: headers["if-none-match"] === "*", ifMatch: headers["if-match"] ?? null };
      const metadata = parseMetadata(headers["upload-metadata"] ?? "");
      const upload: UploadRow = {
        accountId: caller.accountId,
        id: crypto.randomUUID(),
        length: headers["upload-length"],
        metadata,
        conditions,
        budgets: caller.key.budgets ?? [],
        bytes: new Uint8Array(0),
        fileId: null,
      };
      checkTarget(state, caller, upload);
      requireBudgets(state, caller, upload.length);
      if (body.length > 0 || upload.length === 0) await add(state, caller, upload, body, headers["upload-checksum"]);
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
      await add(state, caller, upload, body, headers["upload-checksum"]);
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

/** The answer to OPTIONS, which needs no credential. */
export function announceTus(): Reply<void> {
  return new Reply(undefined, {
    headers: {
      "tus-resumable": TUS_VERSION,
      "tus-version": TUS_VERSION,
      "tus-extension": TUS_EXTENSIONS.join(","),
      "tus-checksum-algorithm": TUS_CHECKSUMS.join(","),
    },
  });
}

async function add(
  state: State,
  caller: Caller,
  upload: UploadRow,
  bytes: Uint8Array,
  checksum: string | undefined,
): Promise<void> {
  if (upload.bytes.length + bytes.length > upload.length)
    throw new Failure("validation_failed", "body: more bytes than Upload-Length");
  await checkSum(bytes, checksum);
  const all = new Uint8Array(upload.bytes.length + bytes.length);
  all.set(upload.bytes);
  all.set(bytes, upload.bytes.length);
  upload.bytes = all;
  if (all.length < upload.length) return;
  // What it held is written by its end.
  const { budgets } = upload;
  upload.budgets = [];
  try {
    upload.fileId = await finish(state, caller, upload);
  } catch (error) {
    upload.budgets = budgets;
    throw error;
  }
}

async function finish(state: State, caller: Caller, { metadata, conditions, bytes }: UploadRow): Promise<string> {
  const content = { bytes, contentType: metadata.get("filetype") };
  const note = (action: string, { id, vaultId }: File): string => {
    record(state, caller, caller.accountId, action, { type: "file", id, vaultId });
    return id;
  };
  const fileId = metadata.get("fileId");
  if (fileId !== undefined)
    return note(
      "file.updated",
      await replaceContent(state, caller, fileId, conditions.ifMatch, content, keeps(caller, metadata)),
    );
  const place = {
    vaultId: metadata.get("vaultId"),
    folderId: metadata.get("folderId"),
    name: nameOf(metadata),
    ifAbsent: conditions.ifAbsent,
  };
  return note("file.uploaded", await createFile(state, caller, place, content));
}

/** Refuses at once what the end would refuse. */
function checkTarget(state: State, caller: Caller, { metadata, conditions }: UploadRow): void {
  const fileId = metadata.get("fileId");
  if (fileId !== undefined) {
    const { value } = readRow(state, state.files, caller, fileId, "File");
    keeps(caller, metadata);
    if (value.trashedAt !== null) throw new Failure("trashed");
    refuseReplaced(value, conditions.ifMatch);
    return;
  }
  const name = nameOf(metadata);
  const { vaultId, folderId: place } = findPlace(state, caller, metadata.get("vaultId"), metadata.get("folderId"));
  const code = conditions.ifAbsent ? "precondition_failed" : "name_exists";
  refuseTakenName(state.files, { vaultId, place, name }, null, code);
}

/** Throws `owner_only`. */
function keeps(caller: Caller, metadata: ReadonlyMap<string, string>): boolean {
  if (metadata.get("keep") !== "false") return true;
  if (caller.key.value.accessLevel !== "owner") throw new Failure("owner_only");
  return false;
}

function nameOf(metadata: ReadonlyMap<string, string>): string {
  const name = metadata.get("filename") ?? "";
  const problem = newNameProblem(name);
  if (problem !== null) throw new Failure("validation_failed", `upload-metadata.filename: ${problem}`);
  return name.normalize("NFC");
}

function parseMetadata(field: string): Map<string, string> {
  const metadata = new Map<string, string>();
  for (const pair of field.split(",").filter((text) => text !== "")) {
    const match = /^\s*([^\s,]+)(?: ([A-Za-z0-9+/]*={0,2}))?\s*$/.exec(pair);
    if (match?.[1] === undefined)
      throw new Failure("validation_failed", "headers.upload-metadata: not key and base64 value");
    metadata.set(
      match[1],
      new TextDecoder().decode(Uint8Array.from(atob(match[2] ?? ""), (character) => character.charCodeAt(0))),
    );
  }
  for (const key of ["vaultId", "folderId", "fileId"]) {
    const id = metadata.get(key);
    if (id !== undefined && !UUID.test(id))
      throw new Failure("validation_failed", `headers.upload-metadata: ${key} is no id`);
  }
  return metadata;
}

async function checkSum(bytes: Uint8Array, checksum: string | undefined): Promise<void> {
  if (checksum === undefined) return;
  const [algorithm, expected] = checksum.split(" ");
  const names = { sha256: "SHA-256", sha1: "SHA-1" } as const;
  if (algorithm !== "sha256" && algorithm !== "sha1")
    throw new Failure("validation_failed", "headers.upload-checksum: unknown algorithm");
  const digest = new Uint8Array(await crypto.subtle.digest(names[algorithm], new Uint8Array(bytes)));
  if (toBase64(digest) !== expected) throw new Failure("checksum_mismatch");
}

function refuseVersion(version: string | undefined): void {
  if (version !== TUS_VERSION) throw new Failure("unsupported_tus_version", undefined, { "tus-version": TUS_VERSION });
}
