/** One request that brings a file's whole content: raw, or the file of a form. */
import type { api, HandlerInput } from "@coffer/contract";
import { ServiceError } from "../../http/errors.ts";
import type { CreationContext, IncomingBytes, Principal, Recorded, RequestContext } from "../../http/handlers.ts";
import { findPlace } from "../placing.ts";
import { parseDigests } from "./digests.ts";
import { openIncoming } from "./incoming.ts";
import { DEFAULT_CONTENT_TYPE, toFile } from "./rules.ts";
import {
  addFile,
  addVersion,
  readReplaceable,
  readRoom,
  refuseTakenName,
  storeThenCommit,
  type StoringDeps,
} from "./storing.ts";

type Upload = HandlerInput<typeof api.files.upload, IncomingBytes>;
type Replacement = HandlerInput<typeof api.files.replace, IncomingBytes>;
interface FileBody {
  file: ReturnType<typeof toFile>;
}

/** Whatever can be refused is refused before the bytes are read: place, name, size and quota. */
export async function uploadFile(
  deps: StoringDeps,
  { query, headers, body }: Upload,
  context: CreationContext<Principal>,
): Promise<Recorded<FileBody>> {
  const { principal } = context;
  const digests = parseDigests(headers);
  const ifNoneMatch = headers["if-none-match"] !== undefined;
  const place = await findPlace(deps.database, principal, { vaultId: query.vaultId, folderId: query.folderId });
  if (query.name !== undefined) await refuseTakenName(deps.database, place, { name: query.name, ifNoneMatch });
  const incoming = await openIncoming(body, digests, await readRoom(deps.database, deps, principal));
  const name = query.name ?? incoming.name;
  if (name === null) throw new ServiceError("validation_failed", "query.name: a name is required");
  const file = { ...place, name, ifNoneMatch, contentType: incoming.contentType ?? DEFAULT_CONTENT_TYPE };
  if (query.name === undefined) await refuseTakenName(deps.database, place, file);
  return storeThenCommit(
    deps,
    incoming,
    () => context.recheck(),
    async (transaction, content) => {
      const row = await addFile(transaction, deps, principal, file, content);
      return context.record(transaction, { file: toFile(row) });
    },
  );
}

export async function replaceContent(
  deps: StoringDeps,
  { params, headers, body }: Replacement,
  context: RequestContext<Principal>,
): Promise<FileBody> {
  const { principal } = context;
  const digests = parseDigests(headers);
  const target = { fileId: params.fileId, ifMatch: headers["if-match"] };
  const old = await readReplaceable(deps.database, principal, target);
  const incoming = await openIncoming(body, digests, await readRoom(deps.database, deps, principal, old.size));
  return storeThenCommit(
    deps,
    incoming,
    () => context.recheck(),
    async (transaction, content) => ({
      file: toFile(
        await addVersion(transaction, deps, principal, { ...target, contentType: incoming.contentType }, content),
      ),
    }),
  );
}
