import { api } from "@coffer/contract";
import { openDestination, TaskFailure, untrusted } from "@coffer/tasks";
import * as z from "zod/mini";
import { defineTool } from "../tool.ts";
import { byteCount } from "../words.ts";
import { findOwnFile, findReadableFile, RECEIPT } from "./own-file.ts";
import { itemRef, localPath } from "./places.ts";

export const fileDownload = defineTool({
  name: "file_download",
  profile: "read",
  title: "Download a file",
  description:
    "Writes a file, or the part from offset of length bytes, to a new local path in an existing folder. A whole file is verified first. Answers with bytes and sha256.",
  endpoints: [api.files.get, api.files.content],
  // A call only reads from the service, but writes a local file. With overwrite it replaces one.
  hints: { readOnlyHint: false, destructiveHint: true },
  touchesFiles: true,
  input: {
    fileId: itemRef,
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
  output: RECEIPT,
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
});

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
