/** A client that uploads in every way and comes back after every crash, until it is told to stop. */
import { api, HEADERS, TUS_VERSION } from "@coffer/contract";
import { parseJson } from "../conformance/judge.ts";
import { sampleBytes, sha256Hex, tusChecksum, tusMetadata } from "../conformance/samples.ts";
import { redeemInvite, rotate } from "./identity.ts";
import { attempt, persist, Refused, type ClientContext } from "./persist.ts";

export async function runClient(context: ClientContext): Promise<void> {
  const { draw, name, stopping } = context;
  for (let round = 0; !stopping.aborted; round += 1) {
    const title = `${name}-${String(round)}`;
    try {
      const kind = draw.int(23);
      if (kind === 0) await mintKey(context, title);
      else if (kind > 21) await redeemInvite(context, title);
      else if (kind > 19) await rotate(context, context.person);
      else if (kind < 11) await uploadRaw(context, title);
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

/** Key names are not unique, so a second effect would show as a second key. */
async function mintKey(context: ClientContext, name: string): Promise<void> {
  await persist(context, api.apiKeys.create, { body: { name } }, { "idempotency-key": `"${name}"` }, "already_created");
  context.ledger.keys.push(name);
}
