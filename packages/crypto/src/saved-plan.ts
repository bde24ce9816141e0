import { fromBase64, toBase64 } from "./bytes.ts";
import { COMMITMENT_BYTES, SALT_BYTES } from "./cobblestone.ts";
import type { FilePlan, SavedPlan } from "./file-plan.ts";
import type { PartRecord } from "./file-part.ts";
import { HEADER_BYTES, MAX_ENVELOPE_BYTES, parseHeader } from "./header.ts";
import { MAX_CHUNKS } from "./sizes.ts";

/** A plan in a journal's form: JSON, all bytes in base64, and no secret: the data key is unwrapped from the envelope again. */
export interface SavedPlanRecord {
  readonly format: "coffer/plan/v1";
  readonly header: string;
  readonly envelope: string;
  readonly salt: string;
  readonly commitment: string;
  readonly contentSize: number;
}

/** A part in a journal's form. */
export interface SavedPartRecord {
  readonly firstChunk: number;
  readonly endChunk: number;
  readonly tagDigest: string;
}

/** Throws TypeError for a plan whose content's size is unknown: it cannot be resumed. */
export function encodeSavedPlan(plan: FilePlan): SavedPlanRecord {
  if (plan.contentSize === null) throw new TypeError("a content of unknown size cannot be resumed");
  return {
    format: "coffer/plan/v1",
    header: toBase64(plan.header),
    envelope: toBase64(plan.envelope),
    salt: toBase64(plan.keys.salt),
    commitment: toBase64(plan.keys.commitment),
    contentSize: plan.contentSize,
  };
}

/** Null for anything but a whole record of this format: then there is nothing to resume, and a new version begins. */
export function parseSavedPlan(value: unknown): SavedPlan | null {
  const fields = fieldsOf(value);
  if (fields === null || fields["format"] !== "coffer/plan/v1") return null;
  const header = bytesOf(fields["header"], HEADER_BYTES);
  const envelope = bytesOf(fields["envelope"], null);
  const salt = bytesOf(fields["salt"], SALT_BYTES);
  const commitment = bytesOf(fields["commitment"], COMMITMENT_BYTES);
  const contentSize = fields["contentSize"];
  if (header === null || envelope === null || salt === null || commitment === null) return null;
  if (typeof contentSize !== "number" || !Number.isSafeInteger(contentSize) || contentSize < 0) return null;
  try {
    const { envelopeLength, padded } = parseHeader(header);
    if (envelopeLength !== envelope.length) return null;
    return { header, envelope, salt, commitment, padded, contentSize };
  } catch {
    return null;
  }
}

export function encodeSavedPart({ endChunk, firstChunk, tagDigest }: PartRecord): SavedPartRecord {
  return { firstChunk, endChunk, tagDigest: toBase64(tagDigest) };
}

/** Null for anything but a whole record. */
export function parseSavedPart(value: unknown): PartRecord | null {
  const fields = fieldsOf(value);
  if (fields === null) return null;
  const { endChunk, firstChunk } = fields;
  const tagDigest = bytesOf(fields["tagDigest"], 32);
  if (typeof firstChunk !== "number" || typeof endChunk !== "number" || tagDigest === null) return null;
  const whole = Number.isSafeInteger(firstChunk) && Number.isSafeInteger(endChunk);
  if (!whole || firstChunk < 0 || firstChunk >= endChunk || endChunk > MAX_CHUNKS) return null;
  return { firstChunk, endChunk, tagDigest };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : null;
}

/** `length` bytes exactly; with null, an envelope's bytes at most. */
function bytesOf(value: unknown, length: number | null): Uint8Array | null {
  if (typeof value !== "string" || value.length > 2 * MAX_ENVELOPE_BYTES) return null;
  const bytes = fromBase64(value);
  if (bytes === null) return null;
  return (length === null ? bytes.length <= MAX_ENVELOPE_BYTES : bytes.length === length) ? bytes : null;
}
