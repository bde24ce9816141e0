/** Batches: small uploads that wait side by side go in one request (decision 0055). */
import {
  batchPart,
  batchesGroup,
  MAX_BATCH_BYTES,
  MAX_BATCH_FILES,
  PART_HEADER,
  type BatchPart,
} from "@coffer/contract";
import * as z from "zod/mini";
import { callOn } from "../http/call.ts";
import { wordsOf } from "../http/encode-request.ts";
import { toBase64 } from "./digest.ts";
import { ContractError } from "../http/errors.ts";
import type { WireFile } from "../storage/file.ts";
import type { CallOptions, Connection } from "../connection/options.ts";
import { partErrorOf } from "../http/part-error.ts";
import type { NewFileTarget } from "./upload-codec.ts";

/** The place of one upload in the batches. */
export interface BatchSlot {
  /** The stored file, once a batch has brought it. Rejects as an upload by itself would. */
  add(target: NewFileTarget, content: { readonly bytes: Uint8Array; readonly digest: Uint8Array }): Promise<WireFile>;
  /** The upload goes by itself: no batch waits for it any more. May be called again. */
  release(): void;
}

interface QueuedUpload {
  readonly target: NewFileTarget;
  readonly part: BatchPart;
  readonly bytes: Uint8Array;
  readonly settle: { resolve(file: WireFile): void; reject(error: unknown): void };
}

/**
 * Uploads that prepare what they add. More of them would all be ready at the end, and the service would wait for the
 * first batch.
 */
const MAX_ACTIVE = 24;

/**
 * A batch goes when it is full, and when every upload waits for one. So nothing waits for a time to pass. All files of
 * a batch go to one vault; uploads into several make several batches.
 */
export class UploadBatches {
  readonly #connection: Connection;
  readonly #options: Pick<CallOptions, "signal" | "retries">;
  readonly #queued = new Map<string, QueuedUpload[]>();
  /** Uploads that may still add something: they neither wait nor are on their way. */
  #active = 0;
  /** Uploads that wait to begin, the first one first. */
  readonly #starting: (() => void)[] = [];
  #isFlushScheduled = false;

  constructor(connection: Connection, options: Pick<CallOptions, "signal" | "retries">) {
    this.#connection = connection;
    this.#options = options;
  }

  /** Does `upload` with a place in the batches, once few enough others work. */
  async join<Result>(upload: (slot: BatchSlot) => Promise<Result>): Promise<Result> {
    const slot = await this.#open();
    try {
      return await upload(slot);
    } finally {
      slot.release();
    }
  }

  async #open(): Promise<BatchSlot> {
    if (this.#active >= MAX_ACTIVE)
      await new Promise<void>((resolve) => {
        this.#starting.push(resolve);
      });
    else this.#active += 1;
    let isActive = true;
    const release = (): void => {
      if (!isActive) return;
      isActive = false;
      // The place goes on to the next one, as long as there are not too many that came back.
      const next = this.#active > MAX_ACTIVE ? undefined : this.#starting.shift();
      if (next === undefined) this.#active -= 1;
      else next();
      this.#flushWhenIdle();
    };
    return {
      release,
      add: async (target, { bytes, digest }) => {
        const part = await partOf(target, digest);
        const { promise, ...settle } = Promise.withResolvers<WireFile>();
        this.#enqueue({ target, part, bytes, settle });
        release();
        try {
          return await promise;
        } finally {
          // It may be tried again.
          isActive = true;
          this.#active += 1;
        }
      },
    };
  }

  #enqueue(one: QueuedUpload): void {
    const vault = one.target.vaultId ?? one.target.folderId ?? "";
    const batch = this.#queued.get(vault) ?? [];
    const size = batch.reduce((sum, { bytes }) => sum + bytes.length, one.bytes.length);
    if (size > MAX_BATCH_BYTES) this.#send(vault);
    const open = this.#queued.get(vault) ?? [];
    this.#queued.set(vault, open);
    open.push(one);
    if (open.length >= MAX_BATCH_FILES) this.#send(vault);
  }

  /** After everything that runs now: an upload that has come back from a batch may be followed by the next one. */
  #flushWhenIdle(): void {
    if (this.#active > 0 || this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    setTimeout(() => {
      this.#isFlushScheduled = false;
      if (this.#active === 0) for (const vault of [...this.#queued.keys()]) this.#send(vault);
    }, 0);
  }

  #send(vault: string): void {
    const batch = this.#queued.get(vault) ?? [];
    this.#queued.delete(vault);
    sendBatch(this.#connection, batch, this.#options).catch((error: unknown) => {
      for (const { settle } of batch) settle.reject(error);
    });
  }
}

async function sendBatch(
  connection: Connection,
  batch: readonly QueuedUpload[],
  options: Pick<CallOptions, "signal" | "retries">,
): Promise<void> {
  const boundary = `coffer-${crypto.randomUUID()}`;
  const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
  const vaultId = batch[0]?.target.vaultId;
  const query = vaultId === undefined ? {} : { vaultId };
  const { results } = await callOn(
    connection,
    batchesGroup.batch,
    { query, headers, body: renderForm(boundary, batch) },
    options,
  );
  if (results.length !== batch.length)
    throw new ContractError("response", batchesGroup.batch.id, ["body.results: another number than was sent"]);
  for (const [at, { target, settle }] of batch.entries()) {
    const { file, error } = results[at] ?? { file: null, error: null };
    if (file !== null) {
      const issue = mismatchOf(target, file);
      if (issue === null) settle.resolve(file);
      else
        settle.reject(new ContractError("response", batchesGroup.batch.id, [`body.results[${String(at)}].${issue}`]));
    } else settle.reject(await partErrorOf(error, connection));
  }
}

/** What an upload by itself compares, too: the answer is about the file that was sent. */
function mismatchOf({ name, vaultId, folderId }: NewFileTarget, file: WireFile): string | null {
  if (vaultId !== undefined && file.vaultId !== vaultId) return "file: other vaultId";
  if (folderId !== undefined && file.folderId !== folderId) return "file: other folderId";
  return name !== null && file.name !== name.normalize("NFC") ? "file: other name" : null;
}

const ENCODER = new TextEncoder();

function renderForm(boundary: string, batch: readonly QueuedUpload[]): Uint8Array {
  const pieces = batch.flatMap(({ part, bytes }) => [
    ENCODER.encode(
      `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="file"\r\n${PART_HEADER}: ${renderPart(part)}\r\n\r\n`,
    ),
    bytes,
    ENCODER.encode("\r\n"),
  ]);
  pieces.push(ENCODER.encode(`--${boundary}--\r\n`));
  const form = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    form.set(piece, at);
    at += piece.length;
  }
  return form;
}

/** @throws ContractError `invalid_request`, before anything is sent. */
async function partOf(target: NewFileTarget, digest: Uint8Array): Promise<BatchPart> {
  const { folderId, name, contentType, ifAbsent, shared } = target;
  const said = {
    ...(folderId === undefined ? {} : { folderId }),
    ...(name === null ? {} : { name }),
    ...(contentType === undefined ? {} : { contentType }),
    ...(ifAbsent === true ? { ifNoneMatch: "*" as const } : {}),
    reprDigest: `sha-256=:${toBase64(digest)}:`,
  };
  const parsed = z.safeParse(batchPart, said);
  // The statements are this client's own work, and the service reads them all the same.
  if (parsed.success) return shared === undefined ? parsed.data : { ...parsed.data, shared };
  throw new ContractError("request", batchesGroup.batch.id, await wordsOf(parsed.error.issues, "part"));
}

/** JSON in ASCII: characters beyond it are escaped. */
function renderPart(part: BatchPart): string {
  return JSON.stringify(part).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
