/** A client that uploads in every way and comes back after every crash, until it is told to stop. */
import { api, HEADERS, plainTag, TUS_VERSION, versionsGroup, type File } from "@coffer/contract";
import { parseJson, type Received } from "../conformance/judge.ts";
import { sampleBytes, sha256Hex, tusChecksum, tusMetadata } from "../conformance/samples.ts";
import { batchForm, FORM_TYPE } from "../kit/batch-form.ts";
import { redeemInvite, rotate } from "./identity.ts";
import { attempt, persist, Refused, type ClientContext } from "./persist.ts";

export async function runClient(context: ClientContext): Promise<void> {
  const { draw, name, stopping } = context;
  for (let round = 0; !stopping.aborted; round += 1) {
    const title = `${name}-${String(round)}`;
    try {
      const kind = draw.int(33);
      if (kind === 0) await mintKey(context, title);
      else if (kind > 29) await commitSwap(context, title);
      else if (kind > 28) await redeemInvite(context, title);
      else if (kind > 26) await rotate(context, context.person);
      else if (kind > 21) await actOnMany(context, title);
      else if (kind > 18) await replaceAndRestore(context, title);
      else if (kind < 10) await uploadRaw(context, title);
      else await uploadResumable(context, title);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
    }
  }
}

const MAX_BYTES = 300_000;

async function uploadRaw(context: ClientContext, name: string): Promise<void> {
  const bytes = sampleBytes(context.draw.int(MAX_BYTES), context.draw.int(2 ** 31));
  const headers = { "idempotency-key": `"${name}"` };
  const answer = await persist(context, api.files.upload, { query: { name }, headers: {}, body: bytes }, headers);
  const value = parseJson(answer.body) as { file: { id: string } };
  context.ledger.files.push({ fileId: value.file.id, name, sha256: sha256Hex(bytes), size: bytes.length });
}

async function uploadResumable(context: ClientContext, name: string): Promise<void> {
  const { draw, ledger } = context;
  const bytes = sampleBytes(1 + draw.int(MAX_BYTES), draw.int(2 ** 31));
  const tus = { "tus-resumable": TUS_VERSION };
  const create = {
    headers: { ...tus, "upload-length": bytes.length, "upload-metadata": tusMetadata({ filename: name }) },
  };
  const made = await persist(context, api.uploads.create, create, { "idempotency-key": `"${name}"` });
  const params = { uploadId: (made.headers.get("location") ?? "").split("/").at(-1) ?? "" };
  let acknowledged = 0;
  let fileId: string | null = null;
  while (fileId === null) {
    const at = await persist(context, api.uploads.head, { params, headers: tus });
    const offset = Number(at.headers.get("upload-offset"));
    if (offset < acknowledged)
      return void ledger.findings.push(
        `${name}: offset ${String(offset)} after ${String(acknowledged)} were acknowledged`,
      );
    if (offset > acknowledged) ledger.counts.resumed += 1;
    const part = bytes.subarray(offset, offset + 1 + draw.int(100_000));
    const headers = { ...tus, "upload-offset": offset, "upload-checksum": tusChecksum("sha256", part) };
    const added = await attempt(context, api.uploads.append, { params, headers, body: part });
    if (added === null) continue;
    acknowledged = Number(added.headers.get("upload-offset"));
    fileId = added.headers.get(HEADERS.fileId);
    if (acknowledged === bytes.length && fileId === null)
      return void ledger.findings.push(`${name}: complete without File-Id`);
  }
  ledger.files.push({ fileId, name, sha256: sha256Hex(bytes), size: bytes.length });
}

/** Most files of a batch, and bytes of each. */
const [BATCH, BATCH_BYTES] = [30, 8_000];

/** A batch by the key that has budgets; all of it into the trash, out of it and into a folder. What comes of it is whole. */
async function actOnMany(context: ClientContext, title: string): Promise<void> {
  const { draw, ledger } = context;
  const limited = { ...context, key: context.limitedKey };
  const files = Array.from({ length: 1 + draw.int(BATCH) }, (_, at) => ({
    name: `${title}-${String(at)}`,
    bytes: sampleBytes(draw.int(BATCH_BYTES), draw.int(2 ** 31)),
  }));
  const form = batchForm(files.map(({ name, bytes }) => ({ said: { name }, content: bytes })));
  const input = { query: {}, headers: { "content-type": FORM_TYPE }, body: new Uint8Array(form) };
  const answer = await persist(limited, api.files.batch, input, { "idempotency-key": `"${title}"` });
  const stored = (parseJson(answer.body) as { results: { file: { id: string } | null }[] }).results;
  const ids = stored.flatMap(({ file }) => (file === null ? [] : [file.id]));
  if (ids.length !== files.length)
    return void ledger.findings.push(`${title}: ${String(ids.length)} of ${String(files.length)} files of a batch`);
  const made = await persist(
    context,
    api.folders.create,
    { body: { vaultId: context.vaultId, name: title } },
    keyed(title),
  );
  const { folder } = parseJson(made.body) as { folder: { id: string } };
  if (draw.chance(0.5)) {
    requireAll(context, title, await persist(limited, api.files.trashMany, { body: { ids } }));
    requireAll(context, title, await persist(limited, api.files.restoreMany, { body: { ids } }));
  }
  requireAll(context, title, await persist(limited, api.files.moveMany, { body: { ids, folderId: folder.id } }));
  for (const [at, { name, bytes }] of files.entries())
    ledger.files.push({ fileId: ids[at] ?? "", name, sha256: sha256Hex(bytes), size: bytes.length });
}

const keyed = (title: string) => ({ "idempotency-key": `"${title}-folder"` });

/** What an attempt without an answer has done is no error of the next. */
function requireAll({ ledger }: ClientContext, title: string, { body }: Received): void {
  const { results } = parseJson(body) as { results: { error: { code: string } | null }[] };
  const failed = results.flatMap(({ error }) => (error === null ? [] : [error.code]));
  if (failed.length > 0) ledger.findings.push(`${title}: ${failed.join()}`);
}

/** Two files swap their names, and one of them gets new content, all in one commit: afterwards both are as it says, whatever was cut off. */
async function commitSwap(context: ClientContext, title: string): Promise<void> {
  const { draw, ledger, vaultId } = context;
  const tus = { "tus-resumable": TUS_VERSION };
  const [old = new Uint8Array(), next = new Uint8Array()] = [0, 1].map(() =>
    sampleBytes(1 + draw.int(MAX_BYTES), draw.int(2 ** 31)),
  );
  const names = [`${title}-left`, `${title}-right`];
  const files: File[] = [];
  for (const name of names) {
    const made = await persist(
      context,
      api.files.upload,
      { query: { vaultId, name }, headers: {}, body: old },
      { "idempotency-key": `"${name}"` },
    );
    files.push((parseJson(made.body) as { file: File }).file);
  }
  const [left, right] = files;
  if (left === undefined || right === undefined) throw new Error("a commit without files");
  const metadata = tusMetadata({ fileId: left.id, held: "true" });
  const create = { headers: { ...tus, "upload-length": next.length, "upload-metadata": metadata } };
  const begun = await persist(context, api.uploads.create, create, { "idempotency-key": `"${title}-held"` });
  const params = { uploadId: (begun.headers.get("location") ?? "").split("/").at(-1) ?? "" };
  for (let offset = 0; offset < next.length;) {
    const at = await persist(context, api.uploads.head, { params, headers: tus });
    offset = Number(at.headers.get("upload-offset"));
    if (at.headers.get(HEADERS.fileId) !== null)
      return void ledger.findings.push(`${title}: a held upload has made its version by itself`);
    const part = next.subarray(offset, offset + 1 + draw.int(200_000));
    if (part.length === 0) break;
    const headers = { ...tus, "upload-offset": offset, "upload-checksum": tusChecksum("sha256", part) };
    await attempt(context, api.uploads.append, { params, headers, body: part });
  }
  const changes = [
    { id: left.id, ifMatch: plainTag(left), name: right.name, uploadId: params.uploadId },
    { id: right.id, ifMatch: plainTag(right), name: left.name },
  ];
  await persist(context, api.files.commit, { body: { vaultId, changes } }, { "idempotency-key": `"${title}-commit"` });
  ledger.files.push({ fileId: left.id, name: right.name, sha256: sha256Hex(next), size: next.length });
  ledger.files.push({ fileId: right.id, name: left.name, sha256: sha256Hex(old), size: old.length });
}

/** New content keeps the old as a version; that one comes back as the newest. */
async function replaceAndRestore(context: ClientContext, title: string): Promise<void> {
  const { draw, ledger } = context;
  const [first = new Uint8Array(), second] = [0, 1].map(() => sampleBytes(draw.int(MAX_BYTES), draw.int(2 ** 31)));
  const input = { query: { name: title }, headers: {}, body: first };
  const made = await persist(context, api.files.upload, input, { "idempotency-key": `"${title}"` });
  const { file } = parseJson(made.body) as { file: { id: string; versionId: string } };
  const params = { fileId: file.id };
  await persist(context, api.files.replace, { params, query: {}, headers: {}, body: second ?? first });
  const restore = { params: { ...params, sourceId: file.versionId } };
  await persist(context, versionsGroup.restoreVersion, restore, { "idempotency-key": `"${title}-back"` });
  ledger.files.push({ fileId: file.id, name: title, sha256: sha256Hex(first), size: first.length });
}

/** Key names are not unique, so a second effect would show as a second key. */
async function mintKey(context: ClientContext, name: string): Promise<void> {
  await persist(context, api.apiKeys.create, { body: { name } }, { "idempotency-key": `"${name}"` }, "already_created");
  context.ledger.keys.push(name);
}
