import { concatBytes, copyBytes, equalBytes } from "./bytes.ts";
import { deriveMessageKeys, KEY_BYTES, SALT_BYTES, type MessageKeys } from "./cobblestone.ts";
import { CryptoError } from "./errors.ts";
import { encodeHeader, encodeHeaderPrefix, fileContext, HEADER_BYTES } from "./header.ts";
import type { CryptoPlatform } from "./platform/platform.ts";
import { DataKey } from "./secret-key.ts";
import { ciphertextSize, MESSAGE_PREFIX_BYTES, paddedSize } from "./sizes.ts";

/** The facts about a file before its envelope can be written. */
export interface EnvelopeRequest {
  /** To be wrapped into the envelope; made for this file alone, and overwritten when the plan is made. */
  readonly dataKey: DataKey;
  /** The header's first 44 bytes. */
  readonly headerPrefix: Uint8Array;
  /** The message's commitment, part of the wrapped key's context. */
  readonly commitment: Uint8Array;
}

export interface NewFile {
  /** UUIDs in lower case. Every content has a version id of its own. */
  readonly fileId: string;
  readonly versionId: string;
  /** Bytes of the content; null when they come from a stream of unknown length, which cannot be padded or resumed. */
  readonly contentSize: number | null;
  /** Hides the content's size up to about 12 % (file-format §3). */
  readonly padded: boolean;
  /** Writes the envelope: at most 4096 bytes, opaque here. */
  readonly envelopeOf: (request: EnvelopeRequest) => Uint8Array | Promise<Uint8Array>;
}

/**
 * Everything that decides a file's bytes but its content: encrypting the same content with it twice gives the same
 * file. Never use it for two contents (file-format §5).
 */
export interface FilePlan {
  readonly header: Uint8Array;
  readonly envelope: Uint8Array;
  readonly padded: boolean;
  readonly contentSize: number | null;
  /** Bytes before the message: header and envelope. */
  readonly payloadOffset: number;
  /** Bytes of the message and of the whole file; null when the content's size is not known. */
  readonly messageSize: number | null;
  readonly fileSize: number | null;
  /** Salt, commitment and the cipher. */
  readonly keys: MessageKeys;
}

/** Makes a data key and a salt, asks for the envelope, and fixes the file's start. Throws RangeError for sizes no file has. */
export async function newFilePlan(platform: CryptoPlatform, file: NewFile): Promise<FilePlan> {
  const headerPrefix = encodeHeaderPrefix(file);
  checkContent(file.contentSize, file.padded);
  const dataKey = randomDataKey(platform);
  try {
    const salt = platform.randomBytes(SALT_BYTES);
    const keys = await deriveMessageKeys(platform, dataKey.reveal(), salt, fileContext(headerPrefix));
    const envelope = await file.envelopeOf({ dataKey, headerPrefix, commitment: copyBytes(keys.commitment) });
    const header = encodeHeader({ ...file, envelopeLength: envelope.length });
    return fixPlan(header, envelope, file.padded, file.contentSize, keys);
  } finally {
    dataKey.dispose();
  }
}

function randomDataKey(platform: CryptoPlatform): DataKey {
  const bytes = platform.randomBytes(KEY_BYTES);
  try {
    return new DataKey(bytes);
  } finally {
    bytes.fill(0);
  }
}

/** A plan that was stored without its secrets; see `saved-plan.ts`. */
export interface SavedPlan {
  readonly header: Uint8Array;
  readonly envelope: Uint8Array;
  readonly salt: Uint8Array;
  readonly commitment: Uint8Array;
  readonly padded: boolean;
  readonly contentSize: number | null;
}

/**
 * The same plan again from its record and the data key, which it disposes; good for parts only, as some of the file
 * may have been sent. Throws CryptoError wrong_key when it is not this file's key.
 */
export async function reopenFilePlan(platform: CryptoPlatform, saved: SavedPlan, dataKey: DataKey): Promise<FilePlan> {
  const context = fileContext(saved.header.subarray(0, HEADER_BYTES - 4));
  const keys = await dataKey.consume((bytes) => deriveMessageKeys(platform, bytes, saved.salt, context));
  if (!equalBytes(keys.commitment, saved.commitment))
    throw new CryptoError("wrong_key", "commitment", "this is not the key of the file that was begun");
  const plan = fixPlan(saved.header, saved.envelope, saved.padded, saved.contentSize, keys);
  claimForParts(plan);
  return plan;
}

const uses = new WeakMap<FilePlan, "whole" | "parts">();

/** Marks a plan as used for a whole file. Throws when it was used already (file-format §5). */
export function claimPlan(plan: FilePlan): void {
  if (uses.has(plan)) throw usedAlready();
  uses.set(plan, "whole");
}

/**
 * Marks a plan as used for parts, which must not contradict each other. Throws when it was used for a whole file
 * (file-format §5).
 */
export function claimForParts(plan: FilePlan): void {
  if (uses.get(plan) === "whole") throw usedAlready();
  uses.set(plan, "parts");
}

function usedAlready(): Error {
  return new Error("a plan encrypts one file once; make a new plan, or encrypt nothing but parts");
}

/** Everything before the chunks: header, envelope, salt, commitment. */
export function encodeFileStart(plan: FilePlan): Uint8Array {
  return concatBytes(plan.header, plan.envelope, plan.keys.salt, plan.keys.commitment);
}

/** Where chunk 0 begins in the file. */
export function chunksOffset(plan: FilePlan): number {
  return plan.payloadOffset + MESSAGE_PREFIX_BYTES;
}

function fixPlan(
  header: Uint8Array,
  envelope: Uint8Array,
  padded: boolean,
  contentSize: number | null,
  keys: MessageKeys,
): FilePlan {
  const payloadOffset = HEADER_BYTES + envelope.length;
  const messageSize = contentSize === null ? null : ciphertextSize(padded ? paddedSize(contentSize) : contentSize);
  const fileSize = messageSize === null ? null : payloadOffset + messageSize;
  return {
    header: copyBytes(header),
    envelope: copyBytes(envelope),
    padded,
    contentSize,
    payloadOffset,
    messageSize,
    fileSize,
    keys,
  };
}

function checkContent(contentSize: number | null, padded: boolean): void {
  if (contentSize !== null) ciphertextSize(padded ? paddedSize(contentSize) : contentSize);
  else if (padded) throw new RangeError("a content of unknown size cannot be padded");
}
