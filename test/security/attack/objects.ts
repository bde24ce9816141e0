/** One object of each kind of an account, with a name that is nowhere else. */
import { randomBytes, randomUUID } from "node:crypto";
import { TUS_VERSION } from "@coffer/contract";
import { chainKeySigner, createClient, generateChainKey, type Client } from "@coffer/sdk";
import { tusMetadata } from "../../conformance/samples.ts";
import type { SignedUp } from "../../kit/signed-up.ts";
import { type Call, send, type Target } from "./target.ts";

export interface Objects {
  readonly vaultId: string;
  readonly folderId: string;
  readonly fileId: string;
  readonly uploadId: string;
  readonly keyId: string;
  readonly inviteId: string;
  readonly webhookId: string;
  readonly deliveryId: string;
  readonly versionId: string;
  /** Of somebody who signed up with a password. */
  readonly sessionId: string;
  /** Of an agent. */
  readonly chainAddress: string;
  readonly chainObjectId: string;
  /** Of a vault key's record. */
  readonly vaultKeyId: string;
  /** Stands in the name of each. */
  readonly canary: string;
}

export async function makeObjects(target: Target, { client, key }: SignedUp): Promise<Objects> {
  const canary = `canary-${randomUUID()}`;
  const { id: vaultId } = await client.vaults.create({ name: canary, type: "public" });
  const { id: folderId } = await client.folders.create({ name: canary, vaultId });
  const { file } = await client.files.upload({ folderId, name: canary, body: Buffer.from(canary) });
  const metadata = tusMetadata({ filename: `${canary}-upload`, vaultId });
  const headers = { "tus-resumable": TUS_VERSION, "upload-length": "6", "upload-metadata": metadata };
  const creation = await send(target, { method: "POST", path: "/api/uploads", headers }, key);
  const hook = { url: "https://127.0.0.1:9/attack", events: ["file.deleted" as const], description: canary };
  const { id: webhookId } = (await client.webhooks.create(hook)).webhook;
  return {
    canary,
    vaultId,
    folderId,
    fileId: file.id,
    webhookId,
    versionId: file.versionId,
    chainObjectId: `0x${randomBytes(32).toString("hex")}`,
    vaultKeyId: randomBytes(32).toString("hex"),
    sessionId: await openSession(target),
    chainAddress: await inviteAgent(target, client),
    uploadId: creation.headers.get("location")?.split("/").at(-1) ?? "",
    keyId: (await client.apiKeys.create({ name: canary, vaultIds: [vaultId] })).id,
    inviteId: (await client.invites.create({ name: canary, vaultIds: [vaultId] })).id,
    deliveryId: (await client.webhooks.test(webhookId)).id,
  };
}

/** Whoever may be asked to end it: a session of nobody who calls. Where the service asks for an access code there is none. */
async function openSession(target: Target): Promise<string> {
  const json = { email: `${randomUUID()}@attack.example`, password: randomUUID() };
  const answer = await send(target, { method: "POST", path: "/api/auth/signup", json }, null);
  if (answer.status !== 201) return randomUUID();
  const { accessToken } = JSON.parse(answer.text) as { readonly accessToken: string };
  const client = createClient({ baseUrl: target.baseUrl, credentials: { apiKey: accessToken } });
  return (await client.sessions.list()).sessions[0]?.id ?? "";
}

async function inviteAgent({ baseUrl }: Target, client: Client): Promise<string> {
  const signer = await chainKeySigner((await generateChainKey()).privateKey);
  const { text } = await client.invites.create({ name: "agent" });
  await createClient({ baseUrl }).invites.redeem(text, signer);
  return signer.chainAddress;
}

/** All that the account sees of them, as one text: equal when nothing of it was changed. */
export async function readObjects(target: Target, { key }: SignedUp, objects: Objects): Promise<string> {
  const { vaultId, folderId, fileId, uploadId, keyId, webhookId } = objects;
  const tus = { "tus-resumable": TUS_VERSION };
  const calls: Call[] = [
    ...[
      `vaults/${vaultId}`,
      `folders/${folderId}`,
      `files/${fileId}`,
      `files/${fileId}/content`,
      `auth/api-keys/${keyId}`,
    ].map(get),
    ...[
      "auth/invites",
      `webhooks/${webhookId}`,
      `webhooks/${webhookId}/deliveries`,
      `files?vaultId=${vaultId}`,
      `folders?vaultId=${vaultId}`,
    ].map(get),
    { method: "HEAD", path: `/api/uploads/${uploadId}`, headers: tus },
  ];
  const texts: string[] = [];
  for (const call of calls) {
    const { status, text, headers } = await send(target, call, key);
    texts.push([call.path, status, headers.get("upload-offset"), text].join(" "));
  }
  return texts.join("\n");
}

function get(path: string): Call {
  return { method: "GET", path: `/api/${path}` };
}
