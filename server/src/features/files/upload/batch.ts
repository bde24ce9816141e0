/**
 * Many small files in one request (decision 0055). Each has the result that it would have by itself. All bytes are durable before the rows
 * are, and the rows, the usage and the changes are one act.
 */
import type { api, BatchPart, HandlerInput, Output } from "@coffer/contract";
import type { CreationContext, IncomingBytes, OutgoingBytes, Principal, Recorded } from "../../../handler.ts";
import type { BodyRoom } from "../../../limits/body-room.ts";
import { ServiceError } from "../../../service-error.ts";
import { findPlace, type FoundPlace } from "../../items/placing.ts";
import { requireWriter } from "../../reach/access.ts";
import { verifyAhead } from "../../shared-vaults/statement-rules.ts";
import { beyondSha256, type ExpectedDigest, parseDigests, requireDigests, verifying } from "../digests.ts";
import { toFile } from "../rules.ts";
import { readParts, type SentPart } from "./batch-form.ts";
import { addEachFile, commit, type PreparedChange } from "./commit.ts";
import {
  deleteContents,
  readRoom,
  receiveAll,
  type ReceivingDeps,
  requireRoom,
  type StoredContent,
} from "./receive.ts";
import { parseSignedUpload } from "./signed-upload.ts";
import type { NewFile, Verifier } from "./verifier.ts";
import { verifierFor } from "./verify.ts";

export type BatchDeps = ReceivingDeps & { readonly batchRoom: BodyRoom };

type Batch = HandlerInput<typeof api.files.batch, IncomingBytes>;
type Answer = Output<typeof api.files.batch, OutgoingBytes>;
type Result = Answer["results"][number];

/** A part that may become a file. */
interface AcceptedPart {
  readonly file: NewFile;
  readonly bytes: Uint8Array;
  readonly digests: readonly ExpectedDigest[];
  readonly place: FoundPlace;
  readonly verifier: Verifier;
}

/** Or why it may not. */
type CheckedPart = AcceptedPart | ServiceError;

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
  const checked = await checkParts(deps, principal, query.vaultId, parts);
  const accepted = checked.filter(isAccepted);
  const place = accepted[0]?.place;
  if (place === undefined)
    return await deps.database.transaction((transaction) =>
      context.record(transaction, { results: checked.map(refusedResult) }),
    );
  const { ahead } = await requireSigner(deps, context, accepted);
  const fitting = await refuseBeyondRoom(deps, place.accountId, checked);
  return await storeParts(deps, context, fitting, { accountId: place.accountId, ahead });
}

/** What can be refused is refused before anything is stored. All files go to the vault of the first that is not. */
async function checkParts(
  deps: BatchDeps,
  principal: Principal,
  namedVaultId: string | undefined,
  parts: readonly SentPart[],
): Promise<CheckedPart[]> {
  const places = new Map<string, Promise<FoundPlace>>();
  const findPlaceOnce = ({ folderId }: BatchPart): Promise<FoundPlace> => {
    const key = folderId ?? "";
    const place = places.get(key) ?? findPlace(deps.database, principal, { vaultId: namedVaultId, folderId });
    places.set(key, place);
    return place;
  };
  const checked: CheckedPart[] = [];
  let vaultId: string | null = null;
  for (const { header, bytes } of parts) {
    const part =
      header instanceof ServiceError ? header : await orRefusal(checkPart(header, bytes, () => findPlaceOnce(header)));
    if (isAccepted(part)) vaultId ??= part.place.vaultId;
    const isElsewhere = isAccepted(part) && part.place.vaultId !== vaultId;
    checked.push(isElsewhere ? new ServiceError("different_vault", "The files of a batch go to one vault") : part);
  }
  return checked;
}

async function checkPart(header: BatchPart, bytes: Uint8Array, find: () => Promise<FoundPlace>): Promise<AcceptedPart> {
  const digests = parseDigests({ "content-digest": header.contentDigest, "repr-digest": header.reprDigest });
  const signed = parseSignedUpload(header.shared ?? {});
  const place = await find();
  const file: NewFile = {
    kind: "file",
    vaultId: place.vaultId,
    folderId: place.folderId,
    name: header.name,
    contentType: header.contentType ?? null,
    ifNoneMatch: header.ifNoneMatch !== undefined,
    signed,
  };
  const verifier = verifierFor(place.vault, file);
  if (place.vault === null && header.name === undefined)
    throw new ServiceError("validation_failed", "name: a name is required");
  verifier.requireLength(bytes.length);
  for await (const _ of verifier.hold(verifying(streamOf(bytes), beyondSha256(digests)))) continue;
  return { file, bytes, digests, place, verifier };
}

/**
 * Before a byte is stored: whether the caller signs in the vault now. The act asks again, for each file. `ahead`: settles when the
 * signatures have been looked at, which takes a thread of the pool and not the account that the act holds.
 */
async function requireSigner(
  deps: BatchDeps,
  context: CreationContext<Principal>,
  accepted: readonly AcceptedPart[],
): Promise<{ readonly ahead: Promise<void> }> {
  const verifier = accepted[0]?.verifier;
  if (verifier === undefined || verifier.write === null) return { ahead: Promise.resolve() };
  const { vault, place } = verifier.write;
  const writer = await requireWriter(deps, context.principal, vault, { place });
  verifier.watch(deps, context);
  const versions = accepted.flatMap(({ file: { signed } }) => (signed === null ? [] : [signed.version]));
  return { ahead: verifyAhead(writer, versions) };
}

/** Files that do not fit any more are refused in their order. */
async function refuseBeyondRoom(
  deps: BatchDeps,
  accountId: string,
  checked: readonly CheckedPart[],
): Promise<CheckedPart[]> {
  const room = await readRoom(deps.database, deps, { accountId, freed: 0 });
  let storageBytes = room.storageBytes;
  return checked.map((part) => {
    if (!isAccepted(part)) return part;
    try {
      requireRoom(part.bytes.length, { ...room, storageBytes });
    } catch (error) {
      return asRefusal(error);
    }
    storageBytes -= part.bytes.length;
    return part;
  });
}

async function storeParts(
  deps: BatchDeps,
  context: CreationContext<Principal>,
  checked: readonly CheckedPart[],
  { accountId, ahead }: { readonly accountId: string; readonly ahead: Promise<void> },
): Promise<Recorded<Answer>> {
  const { principal } = context;
  const accepted = checked.filter(isAccepted);
  const bodies = accepted.map(({ bytes }) => bytes);
  const write = accepted[0]?.verifier.write ?? null;
  return receiveAll(deps, { accountId, bodies }, async (contents, settle) => {
    await ahead;
    await context.recheck();
    const stored = new Map(accepted.map((part, at) => [part, contents[at]]));
    const prepared = checked.map((part) => (isAccepted(part) ? prepare(part, stored.get(part)) : part));
    const used = new Set<string>();
    const recorded = await commit(deps, principal, { accountId, write }, async (changing) => {
      await settle(changing.act);
      used.clear();
      const rows = await addEachFile(changing, prepared);
      const results = rows.map((row): Result => {
        if (row instanceof ServiceError) return refusedResult(row);
        used.add(row.blob_key);
        return { file: toFile(row, principal), error: null };
      });
      return context.record(changing.act, { results });
    });
    const blobKeys = contents.map(({ blobKey }) => blobKey);
    await deleteContents(
      deps,
      blobKeys.filter((blobKey) => !used.has(blobKey)),
    );
    return recorded;
  });
}

function prepare(
  { file, digests }: AcceptedPart,
  content: StoredContent | undefined,
): PreparedChange<NewFile> | ServiceError {
  if (content === undefined) throw new Error("a part of a batch has no content");
  try {
    requireDigests(digests, content.sha256);
  } catch (error) {
    return asRefusal(error);
  }
  return { change: file, content };
}

function isAccepted(part: CheckedPart): part is AcceptedPart {
  return !(part instanceof ServiceError);
}

function refusedResult(part: CheckedPart): Result {
  if (isAccepted(part)) throw new Error("a part that was not refused has no result");
  return { file: null, error: { code: part.code, message: part.message } };
}

/** A refusal of one part. Any other error ends the batch. */
function asRefusal(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  throw error;
}

function orRefusal<Value>(work: Promise<Value>): Promise<Value | ServiceError> {
  return work.catch(asRefusal);
}

async function* streamOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}
