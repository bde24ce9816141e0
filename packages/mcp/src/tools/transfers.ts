import { api } from "@coffer/contract";
import {
  type Digest,
  digestLocal,
  digestStored,
  openDestination,
  openSource,
  TaskFailure,
  untrusted,
  uploadSource,
} from "@coffer/tasks";
import * as z from "zod/mini";
import type { Call } from "../call.ts";
import type { Fact } from "../result.ts";
import { defineTool } from "../tool.ts";
import { byteCount } from "../words.ts";
import { findOwnFile, findReadableFile } from "./own-file.ts";

const fileId = api.files.content.params.shape.fileId;
const localPath = z.string().check(z.minLength(1), z.maxLength(4096));
const upload = api.files.upload;

/** All fields are optional: clients check failures against the schema too. */
const receipt = {
  type: "object",
  properties: { fileId: { type: "string" }, bytes: { type: "integer" }, sha256: { type: "string" } },
};

export const transferTools = [
  defineTool({
    name: "file_upload",
    title: "Upload a local file",
    description:
      "Stores a local file in a vault. Answers with a receipt: fileId, bytes, sha256. Safe to repeat with the same idempotencyKey.",
    endpoints: [api.account.get, api.files.list, api.files.upload, api.files.replace],
    touchesFiles: true,
    resumes: true,
    input: {
      path: localPath,
      vaultId: api.files.get.output.shape.file.shape.vaultId,
      folderId: upload.query.shape.folderId,
      name: upload.query.shape.name,
      mimeType: upload.headers.shape["content-type"],
      ifExists: z._default(z.enum(["error", "version", "rename"]), "error"),
      idempotencyKey: z.optional(
        z.string().check(z.regex(/^[\x21-\x7e]{1,200}$/, "must be 1 to 200 visible ASCII characters")),
      ),
    },
    describe: {
      folderId: "default: top of the vault",
      name: "default: the file's own",
      mimeType: "default: by the name",
      idempotencyKey: "repeats store once; default: none",
      ifExists: "if the name is taken: fail, new content, or number it",
    },
    outputSchema: receipt,
    run: async (args, call) => {
      await using source = await openSource(call.folders, args.path);
      const { file, bytes, sha256, replaced } = await uploadSource(call, source, args);
      return {
        summary: replaced ? "Stored as the file's new version." : "Stored.",
        facts: {
          fileId: file.id,
          bytes,
          sha256,
          vaultId: file.vaultId,
          folderId: file.folderId,
          name: untrusted(file.name),
        },
      };
    },
  }),
  defineTool({
    name: "file_download",
    title: "Download a file",
    description:
      "Writes a file, or the part from offset of length bytes, to a new local path in an existing folder. A whole file is verified first. Answers with bytes and sha256.",
    endpoints: [api.files.get, api.files.content],
    // A call only reads from the service, but writes a local file. With overwrite it replaces one.
    hints: { readOnlyHint: false, destructiveHint: true },
    touchesFiles: true,
    input: {
      fileId,
      destPath: localPath,
      overwrite: z._default(z.boolean(), false),
      offset: z.optional(z.int().check(z.gte(0))),
      length: z.optional(z.int().check(z.gte(1))),
      ciphertext: z._default(z.boolean(), false),
    },
    describe: {
      destPath: "new local file",
      overwrite: "replace an existing file",
      offset: "first byte; default: 0",
      length: "bytes; default: to the end",
      ciphertext: "keep it encrypted",
    },
    outputSchema: receipt,
    run: async (args, call) => {
      await using destination = await openDestination(call.folders, args.destPath, args.overwrite);
      const { ciphertext } = args;
      const file = await (ciphertext ? findOwnFile : findReadableFile)(call, args.fileId);
      const size = ciphertext ? (file.storedSize ?? file.size) : file.size;
      const part = rangeOf(args.offset, args.length);
      if (part !== null && part.offset >= size) {
        throw new TaskFailure("invalid_arguments", {
          message: `offset must be below the file's ${byteCount(size)}`,
        });
      }
      const { downloadFile } = await import("@coffer/sdk/node");
      const done = await downloadFile(await call.client(), file.id, destination.writePath, {
        ...{ overwrite: args.overwrite, ciphertext },
        ...(part === null ? {} : { range: part }),
        signal: call.signal,
        onProgress: ({ bytes, total }) => {
          call.progress(bytes, total ?? size);
        },
      });
      return {
        summary: downloaded(part !== null, ciphertext),
        facts: {
          fileId: file.id,
          path: untrusted(destination.path),
          bytes: done.bytes,
          sha256: done.sha256,
          fileBytes: size,
        },
      };
    },
  }),
  defineTool({
    name: "file_verify",
    title: "Verify a file",
    description:
      "Reads the stored bytes and reports whether they are intact; with path, also whether a local file is equal.",
    endpoints: [api.files.get, api.files.content],
    touchesFiles: true,
    input: { fileId, path: z.optional(localPath) },
    describe: { path: "file to compare; default: none" },
    run: async ({ fileId, path }, call) => {
      const file = await findReadableFile(call, fileId);
      const local = path === undefined ? null : await digestPath(call, path);
      const stored = await digestStored(call, file.id, file.size);
      // Only a client that decrypts it can compute this digest: the service lists the digest of the encrypted bytes.
      const sha256 = file.encrypted ? stored.sha256 : file.sha256;
      const intact = !stored.damaged && stored.sha256 === sha256 && stored.bytes === file.size;
      const known = intact || !file.encrypted;
      const equal = local === null || !known ? null : local.sha256 === sha256 && local.bytes === file.size;
      return {
        summary: verdict(intact, equal),
        facts: verifyFacts(file, known ? sha256 : null, intact, equal, stored, local),
      };
    },
  }),
] as const;

function rangeOf(offset: number | undefined, length: number | undefined): { offset: number; length?: number } | null {
  if (offset === undefined && length === undefined) return null;
  return { offset: offset ?? 0, ...(length === undefined ? {} : { length }) };
}

function downloaded(isPart: boolean, ciphertext: boolean): string {
  if (isPart) return ciphertext ? "Downloaded the part of the stored bytes." : "Downloaded the part.";
  return ciphertext
    ? "Downloaded the stored bytes, which are encrypted in a shared vault."
    : "Downloaded and verified.";
}

function verdict(intact: boolean, equal: boolean | null): string {
  if (!intact) return "The stored file is damaged.";
  if (equal === null) return "The stored file is intact.";
  return equal ? "Intact, and equal to the local file." : "Intact, but the local file differs.";
}

function verifyFacts(
  file: { id: string; size: number },
  sha256: string | null,
  intact: boolean,
  equal: boolean | null,
  stored: Digest,
  local: Digest | null,
): Record<string, Fact> {
  return {
    fileId: file.id,
    intact,
    equal,
    bytes: file.size,
    sha256,
    ...(intact ? {} : { storedBytes: stored.bytes, storedSha256: stored.sha256 }),
    ...(local === null ? {} : { localBytes: local.bytes, localSha256: local.sha256 }),
  };
}

async function digestPath(call: Call, path: string): Promise<Digest> {
  await using source = await openSource(call.folders, path);
  return await digestLocal(call, source);
}
