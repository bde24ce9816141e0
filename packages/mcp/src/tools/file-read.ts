import { api } from "@coffer/contract";
import type { File } from "@coffer/sdk";
import { findFile, TaskFailure, untrustedText } from "@coffer/tasks";
import * as z from "zod/mini";
import type { Call } from "../call.ts";
import { COUNT, TEXT } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { closedStep, whyClosed } from "./file-facts.ts";
import { itemRef, namedVault, vaultRef } from "./reference-input.ts";

const DEFAULT_CHARS = 8_000;
/** Below what one answer may have, because some characters are shown as several. */
const MOST_CHARS = 30_000;
/** Characters of the page as it is shown: an answer has room for little more. */
const MOST_SHOWN = 38_000;
const MOST_BYTES_OF_CHARACTER = 4;

export const fileRead = defineTool({
  name: "file_read",
  profile: "read",
  title: "Read a text file",
  description:
    "Reads a page of a text file. While nextOffset is there, call again with it as offset. Shared vaults are refused unless the user allowed them.",
  endpoints: [api.files.get, api.files.content],
  input: {
    file: itemRef,
    vaultId: z.optional(vaultRef),
    offset: z._default(z.int().check(z.gte(0)), 0),
    maxChars: z._default(z.int().check(z.gte(1), z.lte(MOST_CHARS)), DEFAULT_CHARS),
  },
  describe: {
    vaultId: "id or name, for paths; default: none",
    offset: "first byte",
    maxChars: "characters",
  },
  output: { fileId: TEXT, bytes: COUNT, offset: COUNT, nextOffset: COUNT, text: TEXT },
  run: async ({ file: fileText, vaultId, offset, maxChars }, call) => {
    const file = await findFile(call, await namedVault(call, vaultId), fileText);
    await refuseClosed(call, file);
    if (offset > file.size || (offset === file.size && file.size > 0))
      throw new TaskFailure("invalid_arguments", {
        message: `offset must be below the file's ${String(file.size)} bytes`,
      });
    const { text, next } = file.size === 0 ? { text: "", next: 0 } : await readPage(call, file, offset, maxChars);
    if (file.encrypted) call.recordClosedContent();
    const isLast = next >= file.size;
    return {
      summary: `Bytes ${String(offset)} to ${String(next)} of ${String(file.size)}${isLast ? ", the end" : ""}.`,
      facts: {
        fileId: file.id,
        bytes: file.size,
        offset,
        nextOffset: isLast ? null : next,
        text: untrustedText(text),
      },
    };
  },
});

/** What a client encrypted does not go into a conversation unless the user said so. */
async function refuseClosed(call: Call, file: File): Promise<void> {
  if (!file.encrypted) return;
  if (whyClosed(file) !== null) {
    const { nextStep } = await closedStep(call, file);
    throw new TaskFailure("shared_vault", typeof nextStep === "string" ? { nextStep } : {});
  }
  if (!call.revealsSharedText) throw new TaskFailure("reveal_refused", {});
}

async function readPage(
  call: Call,
  file: File,
  offset: number,
  maxChars: number,
): Promise<{ text: string; next: number }> {
  const client = await call.client();
  const length = Math.min(maxChars * MOST_BYTES_OF_CHARACTER, file.size - offset);
  const download = await client.files.download(file.id, { range: { offset, length }, signal: call.signal });
  const bytes = await download.bytes();
  const isEnd = offset + bytes.length >= file.size;
  const whole = isEnd ? bytes : bytes.subarray(0, wholeCharacters(bytes));
  const decoded = decode(whole, offset);
  // Characters beyond the first plane are two code units, and are not cut apart.
  let cut = cutTo(decoded, maxChars);
  while (JSON.stringify(untrustedText(cut).visible()).length > MOST_SHOWN)
    cut = cutTo(cut, Math.floor(cut.length * 0.7));
  return { text: cut, next: offset + Buffer.byteLength(cut) };
}

function cutTo(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\uD800-\uDBFF]$/, "");
}

/** The bytes without the beginning of a character at their end. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0xc0) return back >= (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? bytes.length : bytes.length - back;
    if (byte < 0x80) return bytes.length;
  }
  return bytes.length;
}

function decode(bytes: Uint8Array, offset: number): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch {
    // It fails as bytes with a NUL do.
  }
  throw new TaskFailure("not_text", offset === 0 ? {} : { message: "No text begins at this offset" });
}
