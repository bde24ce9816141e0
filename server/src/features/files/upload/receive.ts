/** The bytes of an upload go to the blob store, within the account's limits, and held to digests and statements that came with them. */
import type { Budget, IncomingBytes, Principal } from "../../../handler.ts";
import type { BlobReceipt } from "../../../ports/blob-store.ts";
import { ConstraintError, DatabaseFullError, type Queries } from "../../../ports/database.ts";
import { ServiceError } from "../../../service-error.ts";
import type { AccountAct } from "../../account/act.ts";
import { limitsOf } from "../../account/rules.ts";
import { readQuota } from "../../account/store.ts";
import type { Hold, Holds, WantedHold } from "../../holds/holds.ts";
import { beyondSha256, type ExpectedDigest, requireDigests, verifying } from "../digests.ts";
import { isForm, openForm } from "./form.ts";
import type { UploadDeps, Verifier } from "./verifier.ts";

/** With what uploads in one request hold. */
export type ReceivingDeps = UploadDeps & { readonly holds: Holds };

/** Bytes. */
interface Room {
  /** The largest file the plan takes in one request. */
  readonly fileBytes: number;
  /** The largest that comes as a resumable upload. */
  readonly resumableBytes: number;
  /** What is left of the account's storage. */
  readonly storageBytes: number;
}

/** How much may still be sent to the account's vaults; `freed` bytes are given back by the same act. */
export async function readRoom(
  queries: Queries,
  deps: Pick<UploadDeps, "settings">,
  { accountId, freed }: { readonly accountId: string; readonly freed: number },
): Promise<Room> {
  const { plan, usage_bytes } = await readQuota(queries, accountId);
  const limits = limitsOf(plan, deps.settings);
  return {
    fileBytes: limits.rawUploadBytes,
    resumableBytes: limits.fileBytes,
    storageBytes: Math.max(0, limits.storageBytes - usage_bytes + freed),
  };
}

/** Throws `file_too_large` or `storage_quota` for a file of that many bytes. */
export function requireRoom(bytes: number, room: Pick<Room, "fileBytes" | "storageBytes">): void {
  if (bytes > room.fileBytes)
    throw new ServiceError("file_too_large", `A file may hold at most ${room.fileBytes} bytes here`);
  if (bytes > room.storageBytes) throw new ServiceError("storage_quota");
}

/** A body of one file whose bytes may be received. */
export interface OpenBody {
  /** The file name of a form's part, null for a raw body. */
  readonly name: string | null;
  /** null: the sender did not say. */
  readonly contentType: string | null;
  readonly stream: AsyncIterable<Uint8Array>;
  readonly wanted: WantedHold;
  /** The digests still to compare with the SHA-256 of the stored bytes. */
  readonly digests: readonly ExpectedDigest[];
}

/**
 * Opens a raw body, or the form that carries one file. A form's digests are those of the request's content, framing included (RFC 9530
 * §2): they are checked as it arrives. The bytes of a form are counted against the room as they come, those of a raw body with a length in
 * advance.
 */
export async function openBody(
  deps: UploadDeps,
  body: IncomingBytes,
  {
    verifier,
    accountId,
    freed,
    digests,
  }: {
    readonly verifier: Verifier;
    readonly accountId: string;
    readonly freed: number;
    readonly digests: readonly ExpectedDigest[];
  },
): Promise<OpenBody> {
  const room = await readRoom(deps.database, deps, { accountId, freed });
  if (isForm(body.contentType)) {
    const part = await openForm(body.contentType, copied(verifying(body.stream, digests)));
    return { ...part, stream: within(part.stream, room), wanted: { accountId, freed, length: null }, digests: [] };
  }
  if (body.length !== null) verifier.requireLength(body.length);
  requireRoom(Math.max(verifier.leastBytes, body.length ?? 0), room);
  const counted = body.length === null ? within(body.stream, room) : body.stream;
  const stream = verifier.hold(verifying(counted, beyondSha256(digests)));
  const wanted = { accountId, freed, length: body.length };
  return { name: null, contentType: body.contentType, stream, wanted, digests };
}

export interface StoredContent extends BlobReceipt {
  readonly blobKey: string;
}

/** In the act that names received contents: their bytes count as usage from then on. Throws `storage_quota`. */
export type Settle = (act: AccountAct) => Promise<void>;

/**
 * Puts the bytes of one body into the blob store, then runs `commit`.
 * @throws ServiceError `digest_mismatch`, `storage_quota`, what the body's stream and `commit` throw.
 */
export function receive<Result>(
  deps: ReceivingDeps,
  { budgets }: Principal,
  { stream, wanted, digests }: OpenBody,
  commit: (content: StoredContent, settle: Settle) => Promise<Result>,
): Promise<Result> {
  return underHold(deps, { ...wanted, budgets }, async (hold, blobKeys) => {
    const blobKey = deps.random.uuid();
    const options = wanted.length === null ? {} : { length: wanted.length };
    const receipt = await deps.blobs.put(blobKey, hold.within(stream), options);
    blobKeys.push(blobKey);
    requireDigests(digests, receipt.sha256);
    return commit({ blobKey, ...receipt }, (act) => hold.settle(act, receipt.size));
  });
}

/** The same for bodies that are in memory already. What `commit` did not use it deletes with {@link deleteContents}. */
export function receiveAll<Result>(
  deps: ReceivingDeps,
  { accountId, bodies }: { readonly accountId: string; readonly bodies: readonly Uint8Array[] },
  commit: (contents: readonly StoredContent[], settle: Settle) => Promise<Result>,
): Promise<Result> {
  const length = bodies.reduce((sum, bytes) => sum + bytes.length, 0);
  // Budgets are asked file by file, in the act: those that have room are stored.
  const wanted = { accountId, length, freed: 0, budgets: [] };
  return underHold(deps, wanted, async (hold, blobKeys) => {
    const blobs = bodies.map((bytes) => ({ key: deps.random.uuid(), bytes }));
    const receipts = await deps.blobs.putAll(blobs);
    const contents = receipts.map((receipt, at) => ({ blobKey: blobs[at]?.key ?? "", ...receipt }));
    blobKeys.push(...contents.map(({ blobKey }) => blobKey));
    return commit(contents, (act) => hold.settle(act, length));
  });
}

/**
 * What is on the disk if the process is killed, or loses its database, at any point of an upload in one request:
 *
 * - While the bytes come: a temporary file, or parts of an object, that nothing names. The store removes its own when it opens.
 * - Between blob and row: the whole content, durable, under a key that no row names. No reader can reach it. The sweep (`jobs/sweep.ts`)
 *   finds it, keeps it in quarantine for a while, and deletes it; it counts for nobody.
 * - In the act: the rows, the usage, the budgets, the event and the answer that is kept for a repeat commit together or not at all. If the
 *   answer of the database to the commit was lost, both may be true: the content stays, and the sweep decides by the rows.
 *
 * The hold is a row of its own, or memory: in each case it runs out by itself. A failure that says for certain that nothing was committed
 * deletes the content at once.
 */
async function underHold<Result>(
  deps: ReceivingDeps,
  wanted: WantedHold & { readonly budgets: readonly Budget[] },
  work: (hold: Hold, blobKeys: string[]) => Promise<Result>,
): Promise<Result> {
  const hold = await deps.holds.acquire(wanted);
  const blobKeys: string[] = [];
  try {
    const result = await work(hold, blobKeys);
    await hold.end("committed");
    return result;
  } catch (error) {
    const isCertain = isRolledBack(error);
    if (isCertain) await deleteContents(deps, blobKeys);
    await hold.end(isCertain ? "rolled back" : "unknown");
    throw error;
  }
}

/** Whether the error says for certain that nothing was committed. */
function isRolledBack(error: unknown): boolean {
  return error instanceof ServiceError || error instanceof ConstraintError || error instanceof DatabaseFullError;
}

/** Blobs without a row. What cannot be deleted here the hourly sweep removes. */
export async function deleteContents({ blobs }: UploadDeps, blobKeys: readonly string[]): Promise<void> {
  for (const blobKey of blobKeys) await blobs.delete(blobKey).catch(() => undefined);
}

/** Counts what has no declared length and gives up as soon as it is too much. */
async function* within(source: AsyncIterable<Uint8Array>, room: Room): AsyncGenerator<Uint8Array> {
  let arrived = 0;
  for await (const chunk of source) {
    arrived += chunk.byteLength;
    requireRoom(arrived, room);
    yield chunk;
  }
}

/** The parser of forms holds parts of several chunks; a body's chunk ends with the next one. */
async function* copied(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) yield Buffer.from(chunk);
}
