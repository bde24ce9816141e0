/** The vectors of file-format §1 to §4: made here, committed as file-format/payload.json, read by any decoder. */
import { createHash } from "node:crypto";
import {
  ciphertextSize,
  encodeFileStart,
  encryptFile,
  encryptMessage,
  newFilePlan,
  paddedSize,
  type CryptoErrorCode,
  type CryptoPlatform,
  type CryptoStep,
} from "@coffer/crypto";
import { nodePlatform } from "@coffer/crypto/node";
import { collect, patternBytes, sha256Of } from "../kit/bytes.ts";
import { FAILURES, type Cutting, type FailureVector } from "./payload-failures.ts";

/** All bytes are base64. */
export interface PayloadVectors {
  readonly about: readonly string[];
  readonly sizes: readonly { readonly content: number; readonly padded: number; readonly message: number }[];
  readonly messages: readonly MessageVector[];
  readonly files: readonly FileVector[];
  readonly failures: readonly FailureVector[];
  /** Well encrypted, by somebody who knew the key but not the format. */
  readonly malformed: readonly MalformedVector[];
}

export interface MessageVector {
  readonly name: string;
  readonly key: string;
  readonly context: string;
  readonly plaintext: string;
  readonly message: string;
}

export interface FileVector {
  readonly name: string;
  readonly dataKey: string;
  readonly fileId: string;
  readonly versionId: string;
  readonly padded: boolean;
  readonly envelope: string;
  readonly contentSize: number;
  readonly contentSha256: string;
  /** Of the message, as a version statement has it. */
  readonly digest: string;
  readonly file: string;
}

export interface MalformedVector {
  readonly name: string;
  readonly dataKey: string;
  readonly file: string;
  readonly code: CryptoErrorCode;
  readonly step: CryptoStep;
}

export async function makePayloadVectors(): Promise<PayloadVectors> {
  return {
    about: [
      "Vectors for sections 1 to 4 of docs/spec/file-format.md. Bytes are base64.",
      "Every file opens with its dataKey to contentSize bytes with contentSha256, padding removed.",
      "Every failure: edit the named file, use its dataKey, and refuse. Offsets count from the file's first byte.",
      "Every malformed file: refuse it, though all of it authenticates.",
    ],
    sizes: SIZES.map((content) => ({
      content,
      padded: paddedSize(content),
      message: ciphertextSize(content),
    })),
    messages: await Promise.all(MESSAGES.map(makeMessage)),
    files: await Promise.all(FILES.map(makeFile)),
    failures: FAILURES,
    malformed: await Promise.all(MALFORMED.map(makeMalformed)),
  };
}

/** "Random" bytes that come from the vector's name: first the data key, then the salt. */
function fixedRandom(seed: string): CryptoPlatform {
  let drawn = 0;
  return {
    ...nodePlatform,
    randomBytes: (length) => {
      drawn += 1;
      return new Uint8Array(patternBytes(`${seed} random ${drawn}`, length));
    },
  };
}

const SIZES = [
  0, 1, 7, 8, 9, 16, 100, 1000, 1016, 1017, 16375, 16376, 16377, 16383, 16384, 16385, 32768, 1048576, 16777208, 1e9,
  2199023255552, 4398046511104, 4503599627370488 - 8 - 2 ** 46,
];

const MESSAGES = [
  { name: "empty", context: "", plaintext: new Uint8Array(0) },
  { name: "a key, as data keys are wrapped", context: "coffer/wrap/v1", plaintext: patternBytes("wrapped", 32) },
  { name: "64 bytes, as metadata is", context: "coffer/metadata/v1", plaintext: patternBytes("metadata", 64) },
];

interface FileCase {
  readonly name: string;
  readonly size: number;
  readonly envelope: number;
  readonly padded: boolean;
  /** The last bytes of the content are zeros. */
  readonly zeros?: number;
}

const FILES: readonly FileCase[] = [
  { name: "empty", size: 0, envelope: 0, padded: false },
  { name: "one byte", size: 1, envelope: 104, padded: false },
  { name: "one byte short of a chunk", size: 16383, envelope: 0, padded: false },
  { name: "a chunk", size: 16384, envelope: 300, padded: false },
  { name: "two chunks and some", size: 32868, envelope: 300, padded: false },
  { name: "the longest envelope", size: 10, envelope: 4096, padded: false },
  { name: "padded, empty", size: 0, envelope: 0, padded: true },
  { name: "padded", size: 1000, envelope: 300, padded: true },
  { name: "padded, ending in zeros", size: 300, envelope: 0, padded: true, zeros: 100 },
  { name: "padded, size in the next chunk", size: 16376, envelope: 0, padded: true },
];

/** Content of a file vector: a key stream, of which nothing repeats. */
export function contentOf(name: string, size: number, zeros = 0): Uint8Array {
  const content = new Uint8Array(patternBytes(`${name} content`, size));
  return content.fill(0, size - zeros);
}

async function makeMessage({ context, name, plaintext }: (typeof MESSAGES)[number]): Promise<MessageVector> {
  const key = patternBytes(`${name} key`, 32);
  const message = await encryptMessage(fixedRandom(name), key, Buffer.from(context), plaintext);
  return {
    name,
    key: base64(key),
    context: base64(Buffer.from(context)),
    plaintext: base64(plaintext),
    message: base64(message),
  };
}

async function makeFile({ envelope, name, padded, size, zeros }: FileCase): Promise<FileVector> {
  const content = contentOf(name, size, zeros);
  const ids = { fileId: uuid(`${name} file`), versionId: uuid(`${name} version`) };
  let dataKey = "";
  const plan = await newFilePlan(fixedRandom(name), {
    ...ids,
    contentSize: size,
    padded,
    envelopeOf: (request) => {
      dataKey = base64(request.dataKey.reveal());
      return patternBytes(`${name} envelope`, envelope);
    },
  });
  const digest = createHash("sha256");
  const file = await collect(
    encryptFile(plan, content, {
      digest: { update: (bytes) => void digest.update(bytes), digest: () => digest.digest() },
    }),
  );
  return {
    name,
    dataKey,
    ...ids,
    padded,
    envelope: base64(plan.envelope),
    contentSize: size,
    contentSha256: sha256Of(content),
    digest: digest.digest("base64"),
    file: base64(file),
  };
}

/** Plaintexts of padded files that break section 3. 1000 bytes of content are padded to 1024. */
const MALFORMED = [
  { name: "padding that is not zeros", plaintext: paddedPlaintext(1024, 1000, 1010) },
  { name: "a size below what stands there", plaintext: paddedPlaintext(1024, 993, 999) },
  { name: "a size that pads to another length", plaintext: paddedPlaintext(1024, 900, 0) },
  { name: "a size beyond the plaintext", plaintext: paddedPlaintext(1024, 1017, 0) },
  { name: "a size beyond 2^53", plaintext: new Uint8Array(1024).fill(0xff, 1016) },
  { name: "more zeros than the size calls for", plaintext: paddedPlaintext(1032, 1000, 0) },
  { name: "no room for a size", plaintext: new Uint8Array(7) },
  { name: "a size cut by the end of a chunk", plaintext: paddedPlaintext(16384, 16376, 0) },
];

/** Zeros but for the byte before `end`, and a stated size. */
function paddedPlaintext(length: number, size: number, end: number): Uint8Array {
  const plaintext = new Uint8Array(length);
  if (end > 0) plaintext[end - 1] = 1;
  new DataView(plaintext.buffer).setBigUint64(length - 8, BigInt(size));
  return plaintext;
}

async function makeMalformed({ name, plaintext }: (typeof MALFORMED)[number]): Promise<MalformedVector> {
  let dataKey = "";
  const plan = await newFilePlan(fixedRandom(name), {
    fileId: uuid(`${name} file`),
    versionId: uuid(`${name} version`),
    contentSize: 0,
    padded: true,
    envelopeOf: (request) => {
      dataKey = base64(request.dataKey.reveal());
      return new Uint8Array(0);
    },
  });
  const file = Buffer.concat([encodeFileStart(plan), await plan.keys.encrypt(plaintext, 0, true)]);
  return { name, dataKey, file: base64(file), code: "damaged", step: "padding" };
}

/** Version 8 of RFC 9562: the rest is ours. */
function uuid(seed: string): string {
  const bytes = patternBytes(`${seed} id`, 16);
  bytes[6] = 0x80 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

/** The bytes of a failure vector. */
export function applyEdits(vectors: PayloadVectors, failure: FailureVector): Uint8Array {
  let bytes = fileBytes(vectors, failure.file);
  for (const edit of failure.edits) {
    if ("xor" in edit) bytes[edit.at] = (bytes[edit.at] ?? 0) ^ edit.xor;
    else {
      const inserted = edit.insert === undefined ? new Uint8Array(0) : cutting(vectors, edit.insert);
      bytes = Buffer.concat([bytes.subarray(0, edit.at), inserted, bytes.subarray(edit.at + edit.remove)]);
    }
  }
  return bytes;
}

export function fileBytes(vectors: PayloadVectors, name: string): Uint8Array {
  const vector = vectors.files.find((file) => file.name === name);
  if (vector === undefined) throw new Error(`no file vector "${name}"`);
  return Buffer.from(vector.file, "base64");
}

function cutting(vectors: PayloadVectors, insert: Cutting): Uint8Array {
  if ("bytes" in insert) return Buffer.from(insert.bytes, "base64");
  return fileBytes(vectors, insert.file).subarray(insert.from, insert.to);
}
