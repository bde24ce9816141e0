/** The parts of a batch: `multipart/form-data` whose parts carry a `Coffer-File` header each, read whole into bounded memory. */
import {
  batchPart,
  MAX_BATCH_BYTES,
  MAX_BATCH_FILES,
  MAX_PART_HEADER,
  PART_HEADER,
  describeIssues,
  type BatchPart,
} from "@coffer/contract";
import * as z from "zod/mini";
import type { IncomingBytes } from "../../../handler.ts";
import type { BodyPlace } from "../../../limits/body-room.ts";
import { ServiceError } from "../../../service-error.ts";

/** What a batch may have beside its content: a header for each part. Bytes. */
const MAX_BODY_BYTES = MAX_BATCH_BYTES + MAX_BATCH_FILES * 2 * MAX_PART_HEADER;

const MAX_ISSUES = 300;

export interface SentPart {
  /** Or why it cannot be read. */
  readonly header: BatchPart | ServiceError;
  readonly bytes: Uint8Array;
}

/**
 * All parts, in their order. Nothing is kept of a body that breaks off.
 * @throws ServiceError `validation_failed` for a malformed form, one without parts or with too many; `body_too_large`.
 */
export async function readParts(body: IncomingBytes, place: BodyPlace): Promise<SentPart[]> {
  const boundary = boundaryOf(body.contentType ?? "");
  if ((body.length ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  const whole = await collect(body.stream, place);
  const parts = parseForm(boundary, whole);
  if (parts.length === 0) throw new ServiceError("validation_failed", "body: the form holds no part");
  if (parts.reduce((sum, { bytes }) => sum + bytes.length, 0) > MAX_BATCH_BYTES) throw tooLarge();
  return parts.map(({ header, bytes }, at) => ({ header: readHeader(header, at), bytes }));
}

/** RFC 2046 §5.1.1: 1 to 70 characters. */
function boundaryOf(contentType: string): string {
  const match = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))\s*(?:;|$)/i.exec(contentType);
  const boundary = match?.[1] ?? match?.[2];
  if (boundary === undefined)
    throw new ServiceError("validation_failed", "headers.content-type: a boundary of 1 to 70 characters is missing");
  return boundary;
}

async function collect(source: AsyncIterable<Uint8Array>, place: BodyPlace): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of source) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) throw tooLarge();
    place.add(chunk.length);
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks);
}

interface RawPart {
  /** The value of `Coffer-File`; null: there is none. */
  readonly header: string | null;
  readonly bytes: Uint8Array;
}

/**
 * RFC 2046 §5.1.1, for a body in memory. (The parser of the service's other forms shows no headers of its parts. The
 * one below it never ends for a body that breaks off.)
 */
function parseForm(boundary: string, body: Buffer): RawPart[] {
  const parts: RawPart[] = [];
  const delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
  let at = body.indexOf(delimiter.subarray(2)) === 0 ? delimiter.length - 2 : malformed();
  while (!isAt(body, "--", at)) {
    if (parts.length === MAX_BATCH_FILES)
      throw new ServiceError("validation_failed", `body: a batch has at most ${MAX_BATCH_FILES} parts`);
    if (!isAt(body, "\r\n", at)) malformed();
    // A part without headers begins with the empty line.
    const content = body.indexOf("\r\n\r\n", at) + 4;
    const end = endOfPart(body, delimiter, content - 2);
    if (content < 4 || end < content - 2) malformed();
    const header = HEADER.exec(body.toString("latin1", at, content - 2))?.[1]?.trim() ?? null;
    parts.push({ header, bytes: body.subarray(content, Math.max(content, end)) });
    at = end + delimiter.length;
  }
  return parts;
}

/** The delimiter, and not a longer line that begins like it. -1: there is none. */
function endOfPart(body: Buffer, delimiter: Buffer, from: number): number {
  let end = body.indexOf(delimiter, from);
  while (end >= 0 && !isAt(body, "--", end + delimiter.length) && !isAt(body, "\r\n", end + delimiter.length))
    end = body.indexOf(delimiter, end + 1);
  return end;
}

function isAt(body: Buffer, text: string, at: number): boolean {
  return body.toString("latin1", at, at + text.length) === text;
}

const HEADER = new RegExp(`\\r\\n${PART_HEADER}:([^\\r\\n]*)(?=\\r\\n)`, "i");

function readHeader(text: RawPart["header"], at: number): BatchPart | ServiceError {
  const refuse = (issue: string): ServiceError => new ServiceError("validation_failed", `parts[${at}]${issue}`);
  if (text === null) return refuse(": the header Coffer-File is missing");
  if (text.length > MAX_PART_HEADER)
    return refuse(`: the header Coffer-File has at most ${MAX_PART_HEADER} characters`);
  const value = parseJson(text);
  if (value === undefined) return refuse(": the header Coffer-File must be JSON in ASCII");
  const parsed = z.safeParse(batchPart, value);
  if (parsed.success) return parsed.data;
  return refuse(`.${describeIssues(parsed.error.issues, "header")[0] ?? "header"}`.slice(0, MAX_ISSUES));
}

/** undefined, which no part may be: it is not JSON, or not ASCII. */
function parseJson(text: string): unknown {
  try {
    return /^[\x20-\x7e]*$/.test(text) ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

function tooLarge(): ServiceError {
  return new ServiceError("body_too_large", `A batch carries at most ${MAX_BATCH_BYTES} bytes of content`);
}

function malformed(): never {
  throw new ServiceError("validation_failed", "body: not a complete multipart/form-data document");
}
