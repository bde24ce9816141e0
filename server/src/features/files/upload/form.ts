/** `multipart/form-data` with one file (RFC 7578), read as a stream: the file is never held in memory. */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { mediaType, newNameProblem } from "@coffer/contract";
import { Busboy, type BusboyFileStream, type BusboyInstance } from "@fastify/busboy";
import * as z from "zod/mini";
import { ServiceError } from "../../../service-error.ts";

export interface FilePart {
  readonly name: string | null;
  readonly contentType: string | null;
  readonly stream: AsyncIterable<Uint8Array>;
}

interface OpenPart extends FilePart {
  readonly stream: BusboyFileStream;
}

/** A second part counts before its header is read: the parser skips parts that are no field of a form without an error. */
const LIMITS = { files: 1, fields: 1, parts: 1, fieldSize: 1024, headerSize: 16 * 1024 } as const;

const INPUT_BYTES = 256 * 1024;

export function isForm(contentType: string | null): contentType is string {
  return contentType !== null && /^\s*multipart\/form-data\s*(;|$)/i.test(contentType);
}

/**
 * Resolves once the file's part begins. Its stream ends only when the form is complete and held nothing else, so the
 * stored bytes are the whole of one file. Rejects with `validation_failed` for a form without a file, with a field or
 * a second file, or a malformed one. An error of the source passes unchanged.
 */
export async function openForm(contentType: string, source: AsyncIterable<Uint8Array>): Promise<FilePart> {
  const form = openParser(contentType);
  const sender = { failed: false };
  const input = Readable.from(noting(source, sender), { objectMode: false, highWaterMark: INPUT_BYTES });
  // Another part can say where the file goes. It may come last, so it is not read: a vault that it names is not passed over.
  const refused = { reason: null as string | null };
  const refuse = (): void => void (refused.reason = FILE_ALONE);
  form.on("field", refuse).on("partsLimit", refuse);
  const begun = new Promise<OpenPart>((resolve) => {
    form.on("file", (_field, stream, fileName, _encoding, type) => {
      // The part can fail before anyone reads it; the form reports that error.
      stream.on("error", ignore);
      resolve({ name: parseName(fileName), contentType: parseType(type), stream });
    });
  });
  const done = pipeline(input, form).catch((cause: unknown) => {
    throw sender.failed ? cause : malformed(cause);
  });
  const part = await Promise.race([begun, done.then(() => undefined)]);
  if (part === undefined || refused.reason !== null) {
    input.destroy();
    done.catch(ignore);
    throw new ServiceError("validation_failed", refused.reason ?? "body: the form holds no file");
  }
  return { ...part, stream: readPart(part, { input, done, refused }) };
}

const FILE_ALONE =
  "body: a form carries one file and nothing else; name its place in the query (vaultId, folderId, name)";

interface OpenForm {
  readonly input: Readable;
  /** Settles when the form has ended or failed. */
  readonly done: Promise<void>;
  /** Why the form is refused, once its parts have shown it. */
  readonly refused: { readonly reason: string | null };
}

function openParser(contentType: string): BusboyInstance {
  try {
    return new Busboy({ headers: { "content-type": contentType }, limits: LIMITS, preservePath: false });
  } catch (cause) {
    throw malformed(cause);
  }
}

async function* readPart({ stream }: OpenPart, { input, done, refused }: OpenForm): AsyncGenerator<Uint8Array> {
  done.catch((cause: unknown) => stream.destroy(cause as Error));
  try {
    for await (const chunk of stream) yield chunk as Uint8Array;
    await done;
    if (refused.reason !== null) throw new ServiceError("validation_failed", refused.reason);
  } catch (cause) {
    input.destroy();
    // Rejects with the better account of it, where there is one.
    await done;
    throw cause;
  } finally {
    // The reader may have stopped early: the form reads no more from the sender.
    input.destroy();
  }
}

/** Distinguishes a failing sender from a form that cannot be read. */
async function* noting(source: AsyncIterable<Uint8Array>, sender: { failed: boolean }): AsyncGenerator<Uint8Array> {
  try {
    yield* source;
  } catch (error) {
    sender.failed = true;
    throw error;
  }
}

/**
 * A form's file name is a hint of its sender (RFC 7578 §4.2): text that cannot be a name counts as none. The parser
 * puts U+FFFD for bytes that are not UTF-8.
 */
function parseName(fileName: string | undefined): string | null {
  const name = fileName?.normalize("NFC") ?? "";
  return newNameProblem(name) === null && !name.includes("\ufffd") ? name : null;
}

function parseType(type: string): string | null {
  return z.safeParse(mediaType, type).success ? type : null;
}

function malformed(cause: unknown): ServiceError {
  return new ServiceError("validation_failed", "body: not a complete multipart/form-data document", { cause });
}

function ignore(): void {}
