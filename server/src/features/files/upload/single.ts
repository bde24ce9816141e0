/** One request that brings a file's whole content: raw, or the file of a form. */
import type { api, HandlerInput } from "@coffer/contract";
import type { CreationContext, IncomingBytes, Principal, Recorded } from "../../../handler.ts";
import type { FileRow } from "../../../ports/tables.ts";
import { ServiceError } from "../../../service-error.ts";
import { refuseTakenName } from "../../items/names.ts";
import { readVaultFor, requireSight } from "../../reach/access.ts";
import { type ExpectedDigest, parseDigests } from "../digests.ts";
import { toFile } from "../rules.ts";
import { applyChanges, commit } from "./commit.ts";
import { isForm } from "./form.ts";
import { openBody, receive, type ReceivingDeps } from "./receive.ts";
import { parseSignedUpload, sentInHeaders } from "./signed-upload.ts";
import type { ContentChange, NewFile, NewVersion, UploadDeps } from "./verifier.ts";
import { verify, type VerifiedChange } from "./verify.ts";

type Upload = HandlerInput<typeof api.files.upload, IncomingBytes>;
type Replacement = HandlerInput<typeof api.files.replace, IncomingBytes>;
interface FileBody {
  file: ReturnType<typeof toFile>;
}

interface SentBody {
  readonly body: IncomingBytes;
  readonly digests: readonly ExpectedDigest[];
}

/** Most of such a body has come with its headers. Bytes. */
const SMALL_BYTES = 64 * 1024;

export async function uploadFile(
  deps: ReceivingDeps,
  { query, headers, body }: Upload,
  context: CreationContext<Principal>,
): Promise<Recorded<FileBody>> {
  const digests = parseDigests(headers);
  const file: NewFile = {
    kind: "file",
    vaultId: query.vaultId,
    folderId: query.folderId,
    name: query.name,
    contentType: null,
    ifNoneMatch: headers["if-none-match"] !== undefined,
    signed: parseSignedUpload(sentInHeaders(headers)),
  };
  const isSmall = body.length !== null && body.length <= SMALL_BYTES;
  const verified = await verify(deps, context.principal, file, { isSmall });
  return store(deps, context, { change: file, verified, sent: { body, digests } });
}

export async function replaceContent(
  deps: ReceivingDeps,
  { params, query, headers, body }: Replacement,
  context: CreationContext<Principal>,
): Promise<Recorded<FileBody>> {
  const digests = parseDigests(headers);
  const version: NewVersion = {
    kind: "version",
    fileId: params.fileId,
    ifMatch: headers["if-match"],
    keep: query.keep ?? true,
    contentType: null,
    signed: parseSignedUpload(sentInHeaders(headers)),
  };
  const verified = await verify(deps, context.principal, version);
  return store(deps, context, { change: version, verified, sent: { body, digests } });
}

async function store(
  deps: ReceivingDeps,
  context: CreationContext<Principal>,
  { change, verified, sent }: { change: ContentChange; verified: VerifiedChange; sent: SentBody },
): Promise<Recorded<FileBody>> {
  const { principal } = context;
  const { verifier, accountId, made, vault } = verified;
  if (made !== null) return recordMade(deps, context, made);
  if (vault !== null && isForm(sent.body.contentType))
    throw new ServiceError("validation_failed", "body: a shared vault takes raw bytes, no multipart form");
  const opened = await openBody(deps, sent.body, { ...verified, digests: sent.digests });
  verifier.watch(deps, context);
  const prepared = await withSentName(deps, verified, change, opened);
  return receive(deps, principal, opened, async (content, settle) => {
    await verified.ahead;
    await context.recheck();
    return commit(deps, principal, { accountId, write: verifier.write }, async (changing) => {
      await settle(changing.act);
      const [row] = await applyChanges(changing, [{ change: prepared, content }]);
      return context.record(changing.act, fileBody(row, principal));
    });
  });
}

/** The change with what the body says: its media type, and in a public vault the file name of a form. */
async function withSentName(
  deps: UploadDeps,
  { vault, vaultId, folderId }: VerifiedChange,
  change: ContentChange,
  { name: sentName, contentType }: { readonly name: string | null; readonly contentType: string | null },
): Promise<ContentChange> {
  if (change.kind === "version") return { ...change, contentType };
  const file = { ...change, vaultId, folderId, contentType };
  if (vault !== null || change.name !== undefined) return file;
  if (sentName === null) throw new ServiceError("validation_failed", "query.name: a name is required");
  const { ifNoneMatch } = change;
  await refuseTakenName(deps.database, "file", { vaultId, folderId }, { name: sentName, ifNoneMatch });
  return { ...file, name: sentName };
}

/** For what an earlier request has made: its vault need not be the one that this request names. */
async function recordMade(
  deps: UploadDeps,
  context: CreationContext<Principal>,
  row: FileRow,
): Promise<Recorded<FileBody>> {
  const { principal } = context;
  await requireSight(deps, principal, await readVaultFor(deps.database, principal, row.vault_id, "File"));
  return deps.database.transaction((transaction) => context.record(transaction, fileBody(row, principal)));
}

function fileBody(row: FileRow | undefined, principal: Principal): FileBody {
  if (row === undefined) throw new Error("a change was committed without a file");
  return { file: toFile(row, principal) };
}
