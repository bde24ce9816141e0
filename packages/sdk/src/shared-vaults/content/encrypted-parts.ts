/** The bytes of an encrypted file as the sender reads them, made part by part from the plaintext (file-format §5). */
import {
  CHUNK_BYTES,
  chunkCount,
  CryptoError,
  encryptPart,
  partCapacity,
  reencryptPart,
  type CryptoPlatform,
  type EncryptedPart,
  type FilePlan,
  type PartRecord,
} from "@coffer/crypto";
import { toHex } from "../../transfer/digest.ts";
import type { Source } from "../../transfer/source.ts";
import type { EncodedBytes } from "../../transfer/upload-codec.ts";
import { inVaultTerms } from "../vault-terms.ts";
import { readBuffer, readPlaintext } from "./plaintext.ts";

/** Chunks of one part: 8 MiB of content. */
export const PART_CHUNKS = 512;

/**
 * Which bytes were made of which part. No part is given before its record is here, and a part that has one is given
 * only if it comes out the same again: so nothing is ever encrypted twice to different bytes under one key.
 */
export class PartRecords {
  readonly #records: Map<number, PartRecord>;
  readonly #save: ((record: PartRecord) => Promise<void>) | undefined;

  /** `save` resolves when the record is durable. Without it the records live as long as this process. */
  constructor(records: readonly PartRecord[] = [], save?: (record: PartRecord) => Promise<void>) {
    this.#records = new Map(records.map((record) => [record.firstChunk, record]));
    this.#save = save;
  }

  find(firstChunk: number): PartRecord | null {
    return this.#records.get(firstChunk) ?? null;
  }

  async add(record: PartRecord): Promise<void> {
    await this.#save?.(record);
    this.#records.set(record.firstChunk, record);
  }
}

export interface EncryptedPartsOptions {
  readonly records?: PartRecords | undefined;
  /** Chunks of one part; the same for all attempts at one version. */
  readonly partChunks?: number | undefined;
  /** SHA-256 of the message, when its statement names one: the last part comes only when the whole has it. */
  readonly digest?: Uint8Array | null | undefined;
  /** Runs before the last of several parts is made: if it throws, the file is never whole elsewhere. */
  readonly beforeEnd?: (() => Promise<void>) | undefined;
  readonly signal?: AbortSignal | undefined;
}

type OpenPart = EncryptedPart & { readonly index: number };

/**
 * One part is in memory. Reading backward makes parts again, and compares them with their records: if one differs, it
 * throws `source_changed` and gives nothing of it. The plaintext stays open: another attempt may read it.
 */
export class EncryptedParts implements EncodedBytes {
  readonly size: number;
  readonly readsAhead: boolean;
  readonly #platform: CryptoPlatform;
  readonly #plan: FilePlan;
  readonly #plaintext: Source;
  readonly #options: EncryptedPartsOptions;
  readonly #partChunks: number;
  readonly #records: PartRecords;
  readonly #check: (part: EncryptedPart, index: number) => void;
  /** Made once for all parts, like the one below: a buffer for each would wait for the garbage collector, which leaves tens of MiB of them. */
  #encrypted: Uint8Array | null = null;
  #plain: Uint8Array | null = null;
  #part: OpenPart | null = null;

  constructor(platform: CryptoPlatform, plan: FilePlan, plaintext: Source, options: EncryptedPartsOptions = {}) {
    this.size = plan.fileSize ?? 0;
    this.readsAhead = plaintext.readsAhead === true;
    this.#platform = platform;
    this.#plan = plan;
    this.#plaintext = plaintext;
    this.#options = options;
    this.#partChunks = options.partChunks ?? PART_CHUNKS;
    this.#records = options.records ?? new PartRecords();
    this.#check = digestChecker(platform, plan, options.digest ?? null);
  }

  read(offset: number, target: Uint8Array): Promise<number> {
    return inVaultTerms(() => this.#read(offset, target));
  }

  async #read(offset: number, target: Uint8Array): Promise<number> {
    let filled = 0;
    while (filled < target.length && offset + filled < this.size) {
      const at = offset + filled;
      let part = this.#part;
      if (part === null || at < part.fileOffset) part = await this.#open(0);
      while (at >= part.fileOffset + part.bytes.length) part = await this.#open(part.index + 1);
      const slice = part.bytes.subarray(at - part.fileOffset, at - part.fileOffset + target.length - filled);
      target.set(slice, filled);
      filled += slice.length;
    }
    return filled;
  }

  async #open(index: number): Promise<OpenPart> {
    // All parts lie in one memory: if the next one fails, the one before is gone.
    this.#part = null;
    const chunks = chunkCount(this.#plan);
    const firstChunk = index * this.#partChunks;
    const endChunk = Math.min(firstChunk + this.#partChunks, chunks);
    if (index > 0 && endChunk === chunks) await this.#options.beforeEnd?.();
    const record = this.#records.find(firstChunk);
    const part = await this.#encrypt(firstChunk, endChunk, record);
    this.#check(part, index);
    if (record === null) await this.#records.add(part.record);
    return (this.#part = { ...part, index });
  }

  #encrypt(firstChunk: number, endChunk: number, record: PartRecord | null): Promise<EncryptedPart> {
    const { signal } = this.#options;
    this.#encrypted ??= new Uint8Array(Math.min(partCapacity(this.#partChunks), this.size));
    const options = { buffer: this.#encrypted, ...(signal === undefined ? {} : { signal }) };
    const read = (from: number, to: number) => {
      this.#plain ??= readBuffer(Math.min(this.#partChunks * CHUNK_BYTES, this.#plaintext.size ?? Infinity));
      return readPlaintext(this.#plaintext, from, to, this.#plain);
    };
    return record === null
      ? encryptPart(this.#platform, this.#plan, read, firstChunk, endChunk, options)
      : reencryptPart(this.#platform, this.#plan, read, record, options);
  }
}

/** Compares the parts, as they are made in order, with the digest of an earlier pass over the same content. */
function digestChecker(
  platform: CryptoPlatform,
  plan: FilePlan,
  expected: Uint8Array | null,
): (part: EncryptedPart, index: number) => void {
  if (expected === null) return () => undefined;
  const hash = platform.createSha256();
  let next = 0;
  return ({ fileOffset, bytes }, index) => {
    if (index !== next) return;
    next += 1;
    hash.update(index === 0 ? bytes.subarray(plan.payloadOffset) : bytes);
    if (fileOffset + bytes.length === plan.fileSize && toHex(hash.digest()) !== toHex(expected))
      throw new CryptoError("source_changed", "source", "the content changed since it was read first");
  };
}
