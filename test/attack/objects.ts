/** One object of each kind of an account, with a name that is nowhere else. */
import { randomBytes, randomUUID } from "node:crypto";
import { TUS_VERSION } from "@coffer/contract";
import { newChainKey } from "../acceptance/kit/chain.ts";
import { type Account, type Call, make, send, type Target } from "./target.ts";

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

export async function makeObjects(target: Target, { key }: Account): Promise<Objects> {
  const canary = `canary-${crypto.randomUUID()}`;
  const post = (path: string, json: unknown) => make(target, { method: "POST", path, json }, key);
  const idIn = (answer: Record<string, unknown>, kind: string) => (answer[kind] as { id: string }).id;
  const vaultId = idIn(await post("/api/vaults", { name: canary, type: "public" }), "vault");
  const folderId = idIn(await post("/api/folders", { name: canary, vaultId }), "folder");
  const upload = { method: "POST", path: `/api/files?folderId=${folderId}&name=${canary}`, bytes: Buffer.from(canary) };
  const { id: fileId, versionId } = (await make(target, upload, key))["file"] as { id: string; versionId: string };
  const metadata = `filename ${Buffer.from(`${canary}-upload`).toString("base64")},vaultId ${Buffer.from(vaultId).toString("base64")}`;
  const headers = { "tus-resumable": TUS_VERSION, "upload-length": "6", "upload-metadata": metadata };
  const creation = await send(target, { method: "POST", path: "/api/uploads", headers }, key);
  const webhook = { url: "https://127.0.0.1:9/attack", events: ["file.deleted"], description: canary };
  const webhookId = idIn(await post("/api/webhooks/", webhook), "webhook");
  return {
    ...{ canary, vaultId, folderId, fileId, webhookId, versionId },
    ...{ chainObjectId: `0x${randomBytes(32).toString("hex")}`, vaultKeyId: randomBytes(32).toString("hex") },
    ...{ sessionId: await openSession(target), chainAddress: await inviteAgent(target, key) },
    uploadId: creation.headers.get("location")?.split("/").at(-1) ?? "",
    keyId: String((await post("/api/auth/api-keys", { name: canary, vaultIds: [vaultId] }))["id"]),
    inviteId: String((await post("/api/auth/invites", { name: canary, vaultIds: [vaultId] }))["id"]),
    deliveryId: idIn(await make(target, { method: "POST", path: `/api/webhooks/${webhookId}/test` }, key), "delivery"),
  };
}

/** Whoever may be asked to end it: a session of nobody who calls. Where the service asks for an access code there is none. */
async function openSession(target: Target): Promise<string> {
  const json = { email: `${randomUUID()}@attack.example`, password: randomUUID() };
  const answer = await send(target, { method: "POST", path: "/api/auth/signup", json }, null);
  if (answer.status !== 201) return randomUUID();
  const { accessToken } = JSON.parse(answer.text) as { readonly accessToken: string };
  const { sessions } = await make(target, { method: "GET", path: "/api/auth/sessions" }, accessToken);
  return (sessions as readonly { readonly id: string }[])[0]?.id ?? "";
}

async function inviteAgent(target: Target, key: string): Promise<string> {
  const invite = { method: "POST", path: "/api/auth/invites", json: { name: "agent" } };
  const json = await newChainKey(target.baseUrl).redeeming(String((await make(target, invite, key))["code"]));
  await make(target, { method: "POST", path: "/api/auth/invites/redeem", json }, null);
  return json.chainAddress;
}

/** All that the account sees of them, as one text: equal when nothing of it was changed. */
export async function readObjects(target: Target, { key }: Account, objects: Objects): Promise<string> {
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
