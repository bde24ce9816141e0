import { api, isBytes, TUS_VERSION, type EndpointDefinition } from "@coffer/contract";
import type { Flow, Subject } from "../subject.ts";
import { renderPath } from "../wire.ts";
import { tusMetadata } from "../samples.ts";

type Ids = Readonly<Record<string, string>>;

/** Every endpoint that takes an id answers 404 for ids of nobody and of another account, and 400 for what is no id. */
export const isolationFlow: Flow = async (subject) => {
  const { owner, ownerKey, stranger, endpoints } = subject;
  const ids = await makeOneOfEach(subject);
  const withIds = endpoints.filter((e) => e.params !== undefined);
  owner.step("an id of nobody");
  const nobody: Ids = {
    ...Object.fromEntries(Object.keys(ids).map((name) => [name, "5f0c1d9e-0000-4000-8000-0123456789ab"])),
    chainAddress: NOBODYS_ADDRESS,
  };
  for (const e of withIds) await owner.send(e, minimalRequest(owner.baseUrl, e, nobody, ownerKey), "not_found");
  owner.step("what is no id");
  const broken: Ids = Object.fromEntries(Object.keys(ids).map((name) => [name, "not-an-id"]));
  for (const e of withIds) await owner.send(e, minimalRequest(owner.baseUrl, e, broken, ownerKey), "validation_failed");
  if (stranger !== null) await askForTheirs(subject, stranger, ids, withIds);
  owner.step("nothing of it changed anything");
  const { vaultId = "", webhookId = "" } = ids;
  const vault = (await owner.call(api.vaults.get, { params: { vaultId } })).value().vault;
  owner.check(api.vaults.get, vault.id === vaultId, "the vault is gone");
  await owner.call(api.webhooks.delete, { params: { webhookId } });
};

async function askForTheirs(
  { owner: { baseUrl }, covers }: Subject,
  stranger: Subject["owner"],
  ids: Ids,
  withIds: readonly EndpointDefinition[],
): Promise<void> {
  stranger.step("an id of another account");
  for (const e of withIds) await stranger.send(e, minimalRequest(baseUrl, e, ids, stranger.key ?? ""), "not_found");
  stranger.step("another account's vault or folder in query, body and metadata");
  const { vaultId = "", folderId = "" } = ids;
  const refused = { expect: "not_found" } as const;
  await stranger.call(api.files.list, { query: { vaultId } }, refused);
  await stranger.call(api.folders.list, { query: { parentId: folderId } }, refused);
  await stranger.call(api.trash.list, { query: { vaultId } }, refused);
  await stranger.call(api.trash.empty, { query: { vaultId } }, refused);
  await stranger.call(api.folders.create, { body: { name: "theirs", vaultId } }, refused);
  if (covers(api.apiKeys.create))
    await stranger.call(api.apiKeys.create, { body: { name: "theirs", vaultIds: [vaultId] } }, refused);
  await stranger.call(
    api.files.upload,
    { query: { vaultId, name: "theirs" }, headers: {}, body: new Uint8Array(1) },
    refused,
  );
  const metadata = tusMetadata({ filename: "theirs", vaultId });
  await stranger.call(
    api.uploads.create,
    { headers: { "tus-resumable": TUS_VERSION, "upload-length": 3, "upload-metadata": metadata } },
    refused,
  );
}

/** Of a kind that the service does not have, the id is nobody's. */
async function makeOneOfEach({ owner, name, vaultId, covers }: Subject): Promise<Ids> {
  owner.step("one object of each kind");
  const { folder } = (await owner.call(api.folders.create, { body: { name: name("mine"), vaultId } })).value();
  const upload = { query: { vaultId, name: name("mine") }, headers: {}, body: new Uint8Array([7]) };
  const { file } = (await owner.call(api.files.upload, upload)).value();
  const nobodys = { id: "5f0c1d9e-0000-4000-8000-0123456789ac" };
  const named = { body: { name: name("mine") } };
  const { id: inviteId } = covers(api.invites.create) ? (await owner.call(api.invites.create, named)).value() : nobodys;
  const { id: keyId } = covers(api.apiKeys.create) ? (await owner.call(api.apiKeys.create, named)).value() : nobodys;
  const metadata = tusMetadata({ filename: name("mine"), vaultId });
  const begun = await owner.call(api.uploads.create, {
    headers: { "tus-resumable": TUS_VERSION, "upload-length": 3, "upload-metadata": metadata },
  });
  const uploadId = (begun.headers.get("location") ?? "").split("/").at(-1) ?? "";
  // A session takes an access code to begin; without one its id is nobody's.
  const sessionId = nobodys.id;
  const hook = { url: "https://receiver.invalid/mine", events: ["account.plan_changed" as const] };
  const { id: webhookId } = (await owner.call(api.webhooks.create, { body: hook })).value().webhook;
  const { id: deliveryId } = covers(api.webhooks.test)
    ? (await owner.call(api.webhooks.test, { params: { webhookId } })).value().delivery
    : nobodys;
  const versions = { versionId: file.versionId, sourceId: file.versionId };
  const files = { vaultId, folderId: folder.id, fileId: file.id, uploadId, ...versions };
  return { ...files, keyId, inviteId, sessionId, webhookId, deliveryId, chainAddress: NOBODYS_ADDRESS };
}

export const NOBODYS_ADDRESS = `0x${"5f".repeat(32)}`;

/** The least body of those that do without nothing. */
const LEAST = new Map<EndpointDefinition, object>([
  [api.webhooks.recover, { since: "2026-01-01T00:00:00.000Z" }],
  [api.members.add, { chainAddress: NOBODYS_ADDRESS }],
  [api.deletion.challenge, { act: "delete-vault" }],
  [api.vaultKeys.publish, { record: "AAAA" }],
  [api.folderNames.stage, { folderId: null, keyId: "5f".repeat(32), entries: [] }],
]);

/** The least that is valid apart from the ids. */
export function minimalRequest(baseUrl: string, e: EndpointDefinition, ids: Ids, key: string): Request {
  const headers = new Headers({ authorization: `Bearer ${key}` });
  if (e.path.startsWith("/api/uploads")) headers.set("tus-resumable", TUS_VERSION);
  if (e === api.uploads.append) headers.set("upload-offset", "0");
  if (e === api.uploads.create) headers.set("upload-length", "3");
  if (e.body !== undefined && !e.bodyOptional) {
    const type = isBytes(e.body) ? (e.body.mediaType ?? "application/octet-stream") : "application/json";
    headers.set("content-type", type);
  }
  const least = JSON.stringify(LEAST.get(e) ?? {});
  const body = e.body === undefined || e.bodyOptional ? null : isBytes(e.body) ? new Uint8Array([1]) : least;
  return new Request(new URL(renderPath(e, ids), baseUrl), { method: e.method, headers, body });
}
