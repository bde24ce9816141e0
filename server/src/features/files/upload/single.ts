/** One request that brings a file's whole content: raw, or the file of a form. */
import type { api, HandlerInput } from "@coffer/contract";
import type { CreationContext, IncomingBytes, Principal, Recorded } from "../../../handler.ts";
import { ServiceError } from "../../../service-error.ts";
import { refuseTakenName } from "../../items/names.ts";
import { findPlace } from "../../items/placing.ts";
import { parseDigests } from "../digests.ts";
import { openIncoming } from "./receive.ts";
import { DEFAULT_CONTENT_TYPE, toFile } from "../rules.ts";
import { parseSignedUpload, refuseSigned, sentInHeaders } from "./signed-upload.ts";
import { findMadeVersion } from "./shared.ts";
import {
  addFile,
  addVersion,
  readReplaceable,
  readRoom,
  requireMayKeepNothing,
  storeThenCommit,
  type ReceivingDeps,
} from "./commit.ts";
import { recordMade, replaceShared, requireSigned, uploadShared } from "./single-shared.ts";

type Upload = HandlerInput<typeof api.files.upload, IncomingBytes>;
type Replacement = HandlerInput<typeof api.files.replace, IncomingBytes>;
interface FileBody {
  file: ReturnType<typeof toFile>;
}

/** Whatever can be refused is refused before the bytes are read: place, name, size and quota. */
export async function uploadFile(
  deps: ReceivingDeps,
  { query, headers, body }: Upload,
  context: CreationContext<Principal>,
): Promise<Recorded<FileBody>> {
  const { principal } = context;
  const digests = parseDigests(headers);
  const ifNoneMatch = headers["if-none-match"] !== undefined;
  const sent = parseSignedUpload(sentInHeaders(headers));
  const place = await findPlace(deps.database, principal, { vaultId: query.vaultId, folderId: query.folderId });
  const { vault } = place;
  if (vault !== null) {
    const signed = requireSigned(sent, body);
    return uploadShared(
      deps,
      { place: { ...place, vault }, signed, name: query.name, ifNoneMatch, body, digests },
      context,
    );
  }
  refuseSigned(sent);
  if (query.name !== undefined) await refuseTakenName(deps.database, "file", place, { name: query.name, ifNoneMatch });
  const incoming = await openIncoming(body, digests, await readRoom(deps.database, deps, place.accountId));
  const name = query.name ?? incoming.name;
  if (name === null) throw new ServiceError("validation_failed", "query.name: a name is required");
  const file = {
    vaultId: place.vaultId,
    folderId: place.folderId,
    name,
    ifNoneMatch,
    contentType: incoming.contentType ?? DEFAULT_CONTENT_TYPE,
  };
  if (query.name === undefined) await refuseTakenName(deps.database, "file", place, file);
  return storeThenCommit(deps, incoming, { principal, recheck: () => context.recheck() }, async (act, content) => {
    const row = await addFile(act, deps, principal, file, content);
    return context.record(act, { file: toFile(row, principal) });
  });
}

export async function replaceContent(
  deps: ReceivingDeps,
  { params, query, headers, body }: Replacement,
  context: CreationContext<Principal>,
): Promise<Recorded<FileBody>> {
  const { principal } = context;
  const { keep = true } = query;
  requireMayKeepNothing(principal, { keep });
  const digests = parseDigests(headers);
  const target = { fileId: params.fileId, ifMatch: headers["if-match"] };
  const sent = parseSignedUpload(sentInHeaders(headers));
  const made = sent === null ? null : await findMadeVersion(deps, principal, params.fileId, sent);
  if (made !== null) return recordMade(deps, context, made);
  const seen = await readReplaceable(deps.database, principal, target);
  const { row: old, vault } = seen;
  if (vault !== null) {
    if (!keep) throw new ServiceError("validation_failed", "query.keep: a shared vault always keeps what is replaced");
    const replacement = { target, signed: requireSigned(sent, body), body, digests };
    return replaceShared(deps, { ...seen, vault }, replacement, context);
  }
  refuseSigned(sent);
  const incoming = await openIncoming(
    body,
    digests,
    await readRoom(deps.database, deps, old.account_id, keep ? 0 : old.size),
  );
  return storeThenCommit(deps, incoming, { principal, recheck: () => context.recheck() }, async (act, content) => {
    const version = { ...target, contentType: incoming.contentType, keep };
    return context.record(act, { file: toFile(await addVersion(act, deps, principal, version, content), principal) });
  });
}
