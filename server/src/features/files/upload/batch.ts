/**
 * Many small files in one request (decision 0055). Each has the result that it would have by itself. All bytes are durable before the rows
 * are, and the rows, the usage and the changes are one act.
 */
import type { api, HandlerInput, Output, BatchPart } from "@coffer/contract";
import type { CreationContext, IncomingBytes, OutgoingBytes, Principal, Recorded } from "../../../handler.ts";
import type { BodyRoom } from "../../../limits/body-room.ts";
import type { FileRow } from "../../../ports/tables.ts";
import { ServiceError } from "../../../service-error.ts";
import { type AccountAct, actAs } from "../../account/act.ts";
import { findPlace, type FoundPlace } from "../../items/placing.ts";
import { type ExpectedWrite, type Permits, withPermits } from "../../reach/permits.ts";
import { requireWriter, type SeenVault, type Writer } from "../../reach/access.ts";
import { verifyAhead } from "../../shared-vaults/statement-rules.ts";
import { watchMembership } from "../../reach/watching.ts";
import { readParts, type SentPart } from "./batch-form.ts";
import { holdingToVersion, requireSignedSize } from "./encrypted-start.ts";
import { beyondSha256, parseDigests, requireDigests, verifying, type ExpectedDigest } from "../digests.ts";
import { requireRoom } from "./receive.ts";
import { DEFAULT_CONTENT_TYPE, toFile } from "../rules.ts";
import { parseSignedUpload, refuseSigned, type SignedUpload } from "./signed-upload.ts";
import { addSharedFile } from "./shared.ts";
import { addFile, readRoom, rolledBack, type ReceivingDeps, type StoredContent } from "./commit.ts";

export type BatchDeps = ReceivingDeps & { readonly batchRoom: BodyRoom };

type Batch = HandlerInput<typeof api.files.batch, IncomingBytes>;
type Answer = Output<typeof api.files.batch, OutgoingBytes>;
type Result = Answer["results"][number];

/** A part that may become a file. */
interface Acceptable {
  readonly said: BatchPart;
  readonly bytes: Uint8Array;
  readonly digests: readonly ExpectedDigest[];
  readonly place: FoundPlace;
  /** null: in a public vault. */
  readonly signed: SignedUpload | null;
}

type Judged = Acceptable | ServiceError;

function isAccepted(one: Judged): one is Acceptable {
  return !(one instanceof ServiceError);
}

export async function storeBatch(
  deps: BatchDeps,
  { query, body }: Batch,
  context: CreationContext<Principal>,
): Promise<Recorded<Answer>> {
  const { principal } = context;
  // A caller that does not reach the vault is refused before a byte is read.
  if (query.vaultId !== undefined)
    await findPlace(deps.database, principal, { vaultId: query.vaultId, folderId: null });
  using memory = deps.batchRoom.open(principal.accountId);
  const parts = await readParts(body, memory);
  const judged = await judgeAll(deps, principal, { ...query, parts });
  const place = judged.find(isAccepted)?.place;
  if (place === undefined)
    return await deps.database.transaction((transaction) =>
      context.record(transaction, { results: judged.map(refused) }),
    );
  const writer = place.vault === null ? null : await requireSigner(deps, context, place.vault, judged);
  return await storeAll(deps, context, await withinRoom(deps, place.accountId, judged), { ...place, writer });
}

/** What can be refused is refused before anything is stored. All files go to the vault of the first that is not. */
async function judgeAll(
  deps: BatchDeps,
  principal: Principal,
  { vaultId: named, parts }: { readonly vaultId?: string | undefined; readonly parts: readonly SentPart[] },
): Promise<Judged[]> {
  const places = new Map<string, Promise<FoundPlace>>();
  const find = ({ folderId }: BatchPart): Promise<FoundPlace> => {
    const found = places.get(folderId ?? "") ?? findPlace(deps.database, principal, { vaultId: named, folderId });
    places.set(folderId ?? "", found);
    return found;
  };
  const judged: Judged[] = [];
  let vaultId: string | null = null;
  for (const { said, bytes } of parts) {
    const one = said instanceof ServiceError ? said : await orRefusal(judge(said, bytes, () => find(said)));
    if (isAccepted(one)) vaultId ??= one.place.vaultId;
    const isElsewhere = isAccepted(one) && one.place.vaultId !== vaultId;
    judged.push(isElsewhere ? new ServiceError("different_vault", "The files of a batch go to one vault") : one);
  }
  return judged;
}

async function judge(said: BatchPart, bytes: Uint8Array, find: () => Promise<FoundPlace>): Promise<Acceptable> {
  const digests = parseDigests({ "content-digest": said.contentDigest, "repr-digest": said.reprDigest });
  const signed = parseSignedUpload(said.shared ?? {});
  const place = await find();
  const given = verifying(only(bytes), beyondSha256(digests));
  if (place.vault === null) {
    refuseSigned(signed);
    if (said.name === undefined) throw new ServiceError("validation_failed", "name: a name is required");
    await readWhole(given);
    return { said, bytes, digests, place, signed };
  }
  if (signed === null)
    throw new ServiceError("not_encrypted", "A shared vault takes encrypted files with their signed statements");
  requireSignedSize(bytes.length, signed.version);
  await readWhole(holdingToVersion(given, signed.version));
  return { said, bytes, digests, place, signed };
}

/** Before a byte is stored: whether the caller signs in the vault now. The act asks again, for each file. */
async function requireSigner(
  deps: BatchDeps,
  context: CreationContext<Principal>,
  vault: SeenVault,
  judged: readonly Judged[],
): Promise<Writer | null> {
  const place = judged.find(isAccepted)?.signed?.version;
  const writer = place === undefined ? null : await requireWriter(deps, context.principal, vault, { place });
  watchMembership(deps, context, vault);
  return writer;
}

/** Files that do not fit any more are refused in their order. */
async function withinRoom(deps: BatchDeps, accountId: string, judged: readonly Judged[]): Promise<Judged[]> {
  const room = await readRoom(deps.database, deps, accountId);
  let left = room.storageBytes;
  const fit = (bytes: number): void => {
    requireRoom(bytes, { ...room, storageBytes: left });
    left -= bytes;
  };
  const checked: Judged[] = [];
  for (const one of judged) {
    const refusal = one instanceof ServiceError ? null : await orRefusal(Promise.resolve(one.bytes.length).then(fit));
    checked.push(refusal instanceof ServiceError ? refusal : one);
  }
  return checked;
}

async function storeAll(
  deps: BatchDeps,
  context: CreationContext<Principal>,
  judged: readonly Judged[],
  { accountId, writer }: Pick<FoundPlace, "accountId"> & { readonly writer: Writer | null },
): Promise<Recorded<Answer>> {
  const { principal } = context;
  const accepted = judged.filter(isAccepted);
  const length = accepted.reduce((sum, { bytes }) => sum + bytes.length, 0);
  // Budgets are asked file by file, in the act: those that have room are stored.
  const hold = await deps.holds.take({ accountId, length, freed: 0, budgets: [] });
  const blobs = accepted.map(({ bytes }) => ({ key: deps.random.uuid(), bytes }));
  const used = new Set<string>();
  try {
    const versions = accepted.flatMap(({ signed }) => (signed === null ? [] : [signed.version]));
    // The act holds the account, and this needs only a thread.
    const [receipts] = await Promise.all([
      deps.blobs.putAll(blobs),
      writer === null ? null : verifyAhead(writer, versions),
    ]);
    const contents = new Map(
      accepted.map((one, at) => [one, { blobKey: blobs[at]?.key ?? "", ...(receipts[at] ?? NOTHING) }]),
    );
    await context.recheck();
    const storing = (permits: Permits) =>
      actAs(
        deps,
        principal,
        async (act) => {
          await hold.settle(act, length);
          used.clear();
          const results: Result[] = [];
          for (const one of judged) {
            const row = await orRefusal(storeOne({ act, deps, principal, permits }, one, contents));
            if (!(row instanceof ServiceError)) used.add(row.blob_key);
            results.push(row instanceof ServiceError ? refused(row) : { file: toFile(row, principal), error: null });
          }
          return context.record(act, { results });
        },
        { accountId },
      );
    const recorded = await withPermits(deps, principal, storing, writesOf(accepted));
    await hold.end("committed");
    await deleteBlobs(deps, blobs, used);
    return recorded;
  } catch (error) {
    const isCertain = rolledBack(error);
    await hold.end(isCertain ? "rolled back" : "unknown");
    if (isCertain) await deleteBlobs(deps, blobs, new Set());
    throw error;
  }
}

interface Storing {
  readonly act: AccountAct;
  readonly deps: BatchDeps;
  readonly principal: Principal;
  readonly permits: Permits;
}

/** A file that is refused leaves nothing in the act. */
async function storeOne(
  { act, deps, principal, permits }: Storing,
  one: Judged,
  contents: ReadonlyMap<Judged, StoredContent>,
): Promise<FileRow> {
  if (one instanceof ServiceError) throw one;
  const content = contents.get(one);
  if (content === undefined) throw new Error("a part of a batch has no content");
  requireDigests(one.digests, content.sha256);
  const { said, signed, place } = one;
  const { vaultId, folderId } = place;
  const ifNoneMatch = said.ifNoneMatch !== undefined;
  const file = { vaultId, folderId, ifNoneMatch, contentType: said.contentType ?? DEFAULT_CONTENT_TYPE };
  const { usage_bytes, usage_files } = act.account;
  try {
    return signed === null
      ? await addFile(act, deps, principal, { ...file, name: said.name ?? "" }, content)
      : await addSharedFile(act, deps, principal, { file: { ...file, signed, name: said.name }, content, permits });
  } catch (error) {
    act.change({ usage_bytes, usage_files });
    throw error;
  }
}

const NOTHING = { size: 0, sha256: "" };

function writesOf(accepted: readonly Acceptable[]): ExpectedWrite | null {
  const [first] = accepted;
  if (first === undefined || first.signed === null || first.place.vault === null) return null;
  return { vault: first.place.vault, place: first.signed.version };
}

/** Bytes without a row. What cannot be deleted here the hourly sweep removes. */
async function deleteBlobs(
  { blobs }: BatchDeps,
  stored: readonly { readonly key: string }[],
  used: ReadonlySet<string>,
): Promise<void> {
  for (const { key } of stored) if (!used.has(key)) await blobs.delete(key).catch(() => undefined);
}

function refused(error: Judged): Result {
  if (!(error instanceof ServiceError)) throw new Error("a part that was not refused has no result");
  return { file: null, error: { code: error.code, message: error.message } };
}

/** A refusal of one part. Any other error ends the batch. */
async function orRefusal<Value>(work: Promise<Value>): Promise<Value | ServiceError> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}

async function readWhole(source: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of source) continue;
}
