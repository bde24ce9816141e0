/** For every endpoint a call that succeeds for the owner, on objects made for it alone. */
import { randomBytes, randomUUID } from "node:crypto";
import { api, endpointsOf } from "@coffer/contract";
import { PASSWORD } from "./rows.ts";
import { SHARED_VAULT_SAMPLES, type Sample, type Objects, type Secrets } from "./shared-vault-samples.ts";
import type { Call, TestAccount, World } from "./world.ts";

const madeUp = (): string => randomUUID();
const name = (): string => `n-${randomUUID()}`;
const email = (): string => `${randomUUID()}@example.test`;
const address = (): string => `0x${randomBytes(32).toString("hex")}`;
const SIGN_IN = { code: "code", state: "state" };
/** Nobody listens there: what is sent is refused at once. Nothing here makes the event happen. */
const WEBHOOK = { url: "https://127.0.0.1:9/hook", events: ["account.plan_changed"] };
const hook = ({ webhookId }: Objects): string => `/api/webhooks/${webhookId}`;
const delivered = (objects: Objects): string => `${hook(objects)}/deliveries/${objects.deliveryId}`;
const TUS = { "tus-resumable": "1.0.0" };
const PART = { ...TUS, "content-type": "application/offset+octet-stream" };

export const SAMPLES: Readonly<Record<string, Sample>> = {
  "account.get": { needs: [], call: () => ({ path: "/api/account" }) },
  "account.linkChainChallenge": { needs: [], call: () => ({ path: "/api/account/link-chain/challenge", json: {} }) },
  "account.linkChain": {
    needs: [],
    // Signing is the business of its own tests; a nonce that was never given is refused after the matrix.
    outcome: "token_invalid",
    call: () => ({
      path: "/api/account/link-chain",
      json: { chainAddress: address(), signature: "AAAA", nonce: "never given" },
    }),
  },
  "auth.signup": {
    needs: [],
    secret: "accessCode",
    call: (_objects, accessCode) => ({
      path: "/api/auth/signup",
      json: { email: email(), password: PASSWORD, accessCode },
    }),
  },
  "auth.login": {
    needs: [],
    outcome: "wrong_credentials",
    call: () => ({ path: "/api/auth/login", json: { email: email(), password: PASSWORD } }),
  },
  "auth.refresh": {
    needs: [],
    secret: "refreshToken",
    call: (_objects, refreshToken) => ({ path: "/api/auth/refresh", json: { refreshToken } }),
  },
  "auth.logout": {
    needs: [],
    secret: "refreshToken",
    call: (_objects, refreshToken) => ({ path: "/api/auth/logout", json: { refreshToken } }),
  },
  "auth.changePassword": {
    needs: [],
    // The right one would end the sessions that the matrix is asked with.
    outcome: "wrong_password",
    call: () => ({
      path: "/api/auth/change-password",
      json: { currentPassword: "not the password", newPassword: `${PASSWORD} again` },
    }),
  },
  "auth.forgotPassword": { needs: [], call: () => ({ path: "/api/auth/forgot-password", json: { email: email() } }) },
  "auth.resendVerification": {
    needs: [],
    call: () => ({ path: "/api/auth/resend-verification", json: { email: email() } }),
  },
  "auth.resetPassword": {
    needs: [],
    secret: "resetToken",
    call: (_objects, token) => ({
      path: "/api/auth/reset-password",
      json: { token, newPassword: `${PASSWORD} again` },
    }),
  },
  "auth.verifyEmail": {
    needs: [],
    secret: "verifyToken",
    call: (_objects, token) => ({ path: "/api/auth/verify-email", json: { token } }),
  },
  "auth.checkAccessCode": {
    needs: [],
    call: () => ({ path: "/api/auth/check-access-code", json: { code: "unknown" } }),
  },
  "sessions.list": { needs: [], call: () => ({ path: "/api/auth/sessions" }) },
  "sessions.end": { needs: ["sessionId"], call: ({ sessionId }) => ({ path: `/api/auth/sessions/${sessionId}` }) },
  "identityProvider.authorize": { needs: [], outcome: "not_configured", call: () => ({ path: "/api/auth/idp" }) },
  "identityProvider.authorizeZklogin": {
    needs: [],
    outcome: "not_configured",
    call: () => ({ path: `/api/auth/idp/zklogin?nonce=${"n".repeat(27)}` }),
  },
  "identityProvider.callback": {
    needs: [],
    outcome: "not_configured",
    call: () => ({ path: "/api/auth/idp/callback", json: SIGN_IN }),
  },
  "identityProvider.zkloginToken": {
    needs: [],
    outcome: "not_configured",
    call: () => ({ path: "/api/auth/idp/zklogin-token", json: SIGN_IN }),
  },
  "identityProvider.zkloginAuth": {
    needs: [],
    outcome: "not_configured",
    call: () => ({
      path: "/api/auth/idp/zklogin-auth",
      json: { ...SIGN_IN, ephemeralPublicKey: "AAAA", maxEpoch: 1, randomness: "1" },
    }),
  },
  "invites.create": {
    needs: ["vaultId"],
    passesOn: ["files:read"],
    call: ({ vaultId }) => ({
      path: "/api/auth/invites",
      json: { name: "made", scopes: ["files:read"], vaultIds: [vaultId] },
    }),
  },
  "invites.list": { needs: [], call: () => ({ path: "/api/auth/invites" }) },
  "invites.revoke": { needs: ["inviteId"], call: ({ inviteId }) => ({ path: `/api/auth/invites/${inviteId}` }) },
  "invites.redeem": {
    needs: [],
    secret: "inviteCode",
    call: (_objects, code) => ({ path: "/api/auth/invites/redeem", json: { code, chainAddress: address() } }),
  },
  "billing.get": { needs: [], call: () => ({ path: "/api/billing" }) },
  "billing.checkout": { needs: [], call: () => ({ path: "/api/billing/checkout", json: { plan: "pro" } }) },
  "billing.changePlan": {
    needs: [],
    outcome: "subscription_required",
    call: () => ({ path: "/api/billing/plan", json: { plan: "pro" } }),
  },
  "billing.events": {
    needs: [],
    outcome: "signature_invalid",
    call: () => ({
      path: "/api/billing/events",
      headers: {
        "webhook-id": "msg_1",
        "webhook-timestamp": String(Math.floor(Date.now() / 1000)),
        "webhook-signature": `v1,${Buffer.alloc(32).toString("base64")}`,
        "content-type": "application/json",
      },
      bytes: "{}",
    }),
  },
  "webhooks.create": { needs: [], call: () => ({ path: "/api/webhooks", json: WEBHOOK }) },
  "webhooks.list": { needs: [], call: () => ({ path: "/api/webhooks" }) },
  "webhooks.get": { needs: ["webhookId"], call: (objects) => ({ path: hook(objects) }) },
  "webhooks.update": { needs: ["webhookId"], call: (objects) => ({ path: hook(objects), json: { active: false } }) },
  "webhooks.delete": { needs: ["webhookId"], call: (objects) => ({ path: hook(objects) }) },
  "webhooks.test": { needs: ["webhookId"], call: (objects) => ({ path: `${hook(objects)}/test` }) },
  "webhooks.rotateSecret": { needs: ["webhookId"], call: (objects) => ({ path: `${hook(objects)}/rotate-secret` }) },
  "webhooks.deliveries": { needs: ["webhookId"], call: (objects) => ({ path: `${hook(objects)}/deliveries` }) },
  "webhooks.delivery": { needs: ["webhookId", "deliveryId"], call: (objects) => ({ path: delivered(objects) }) },
  "webhooks.redeliver": {
    needs: ["webhookId", "deliveryId"],
    call: (objects) => ({ path: `${delivered(objects)}/redeliver` }),
  },
  "webhooks.recover": {
    needs: ["webhookId"],
    call: (objects) => ({ path: `${hook(objects)}/recover`, json: { since: "2026-01-01T00:00:00.000Z" } }),
  },
  "webhookEvents.list": { needs: [], call: () => ({ path: "/api/webhook-events" }) },
  "events.stream": { needs: [], call: () => ({ path: "/api/events" }) },
  "audit.list": { needs: [], call: () => ({ path: "/api/audit-log" }) },
  "account.update": { needs: [], call: () => ({ path: "/api/account", json: { name: name() } }) },
  "development.signup": {
    needs: [],
    call: () => ({ path: "/api/auth/dev-signup", json: { email: `${randomUUID()}@example.test` } }),
  },
  "apiKeys.create": {
    needs: ["vaultId"],
    call: ({ vaultId }) => ({
      path: "/api/auth/api-keys",
      json: { name: "made", scopes: ["api-keys:write"], vaultIds: [vaultId] },
    }),
  },
  "apiKeys.list": { needs: [], call: () => ({ path: "/api/auth/api-keys" }) },
  "apiKeys.get": { needs: ["keyId"], call: ({ keyId }) => ({ path: `/api/auth/api-keys/${keyId}` }) },
  "apiKeys.revoke": { needs: ["keyId"], call: ({ keyId }) => ({ path: `/api/auth/api-keys/${keyId}` }) },
  "apiKeys.rotate": { needs: ["keyId"], call: ({ keyId }) => ({ path: `/api/auth/api-keys/${keyId}/rotate` }) },
  "vaults.create": { needs: [], call: () => ({ path: "/api/vaults", json: { name: name(), type: "public" } }) },
  "vaults.list": { needs: [], call: () => ({ path: "/api/vaults" }) },
  "vaults.get": { needs: ["vaultId"], call: ({ vaultId }) => ({ path: `/api/vaults/${vaultId}` }) },
  "vaults.update": {
    needs: ["vaultId"],
    call: ({ vaultId }) => ({ path: `/api/vaults/${vaultId}`, json: { name: name() } }),
  },
  "vaults.delete": {
    needs: ["vaultId"],
    call: ({ vaultId }) => ({ path: `/api/vaults/${vaultId}?force=true&permanent=true` }),
  },
  "vaults.restore": {
    needs: ["vaultId"],
    trashed: true,
    call: ({ vaultId }) => ({ path: `/api/vaults/${vaultId}/restore` }),
  },
  ...SHARED_VAULT_SAMPLES,
  "folders.create": {
    needs: ["vaultId"],
    call: ({ vaultId }) => ({ path: "/api/folders", json: { name: name(), vaultId } }),
  },
  "folders.list": { needs: ["vaultId"], call: ({ vaultId }) => ({ path: `/api/folders?vaultId=${vaultId}` }) },
  "folders.get": { needs: ["folderId"], call: ({ folderId }) => ({ path: `/api/folders/${folderId}` }) },
  "folders.update": {
    needs: ["folderId"],
    call: ({ folderId }) => ({ path: `/api/folders/${folderId}`, json: { name: name() } }),
  },
  "folders.delete": { needs: ["folderId"], call: ({ folderId }) => ({ path: `/api/folders/${folderId}` }) },
  "folders.restore": {
    needs: ["folderId"],
    trashed: true,
    call: ({ folderId }) => ({ path: `/api/folders/${folderId}/restore` }),
  },
  "files.upload": {
    needs: ["vaultId"],
    call: ({ vaultId }) => ({ path: `/api/files?vaultId=${vaultId}&name=${name()}`, bytes: "content" }),
  },
  "files.list": { needs: ["vaultId"], call: ({ vaultId }) => ({ path: `/api/files?vaultId=${vaultId}` }) },
  "files.get": { needs: ["fileId"], call: ({ fileId }) => ({ path: `/api/files/${fileId}` }) },
  "files.content": { needs: ["fileId"], call: ({ fileId }) => ({ path: `/api/files/${fileId}/content` }) },
  "files.contentHead": { needs: ["fileId"], call: ({ fileId }) => ({ path: `/api/files/${fileId}/content` }) },
  "files.replace": {
    needs: ["fileId"],
    call: ({ fileId }) => ({ path: `/api/files/${fileId}/content`, bytes: "replaced" }),
  },
  "files.update": {
    needs: ["fileId"],
    call: ({ fileId }) => ({ path: `/api/files/${fileId}`, json: { name: name() } }),
  },
  "files.delete": { needs: ["fileId"], call: ({ fileId }) => ({ path: `/api/files/${fileId}` }) },
  "files.restore": {
    needs: ["fileId"],
    trashed: true,
    call: ({ fileId }) => ({ path: `/api/files/${fileId}/restore` }),
  },
  "uploads.options": { needs: [], call: () => ({ path: "/api/uploads" }) },
  "uploads.create": {
    needs: ["vaultId"],
    call: ({ vaultId }) => ({
      path: "/api/uploads",
      headers: { ...TUS, "upload-length": "4", "upload-metadata": tusMetadata({ filename: name(), vaultId }) },
    }),
  },
  "uploads.head": { needs: ["uploadId"], call: ({ uploadId }) => ({ path: `/api/uploads/${uploadId}`, headers: TUS }) },
  "uploads.append": {
    needs: ["uploadId"],
    call: ({ uploadId }) => ({
      path: `/api/uploads/${uploadId}`,
      headers: { ...PART, "upload-offset": "0" },
      bytes: "four",
    }),
  },
  "uploads.terminate": {
    needs: ["uploadId"],
    call: ({ uploadId }) => ({ path: `/api/uploads/${uploadId}`, headers: TUS }),
  },
  "trash.list": { needs: ["vaultId"], call: ({ vaultId }) => ({ path: `/api/trash?vaultId=${vaultId}` }) },
  "trash.empty": { needs: ["vaultId"], call: ({ vaultId }) => ({ path: `/api/trash?vaultId=${vaultId}` }) },
  "system.health": { needs: [], call: () => ({ path: "/healthz" }) },
  "system.ready": { needs: [], call: () => ({ path: "/readyz" }) },
  "system.metrics": { needs: [], call: () => ({ path: "/metrics" }) },
  "system.openapi": { needs: [], call: () => ({ path: "/openapi.json" }) },
};

/** Throws when an endpoint has no sample: a new endpoint must not pass by being left out. */
export function sampleOf(id: string): Sample {
  const sample = SAMPLES[id];
  if (sample === undefined) throw new Error(`${id} has no sample call in test/permissions/samples.ts`);
  return sample;
}

export const ENDPOINTS = endpointsOf(api);

/** New objects of the account in `vaultId`, as far as the sample needs them. */
export async function makeObjects(
  world: World,
  account: TestAccount,
  sample: Sample,
  vaultId: string,
): Promise<Objects> {
  const make = (call: Call): Promise<Readonly<Record<string, unknown>> | null> => create(world, account, call);
  const objects = {
    vaultId,
    folderId: madeUp(),
    fileId: madeUp(),
    uploadId: madeUp(),
    keyId: madeUp(),
    inviteId: madeUp(),
    sessionId: madeUp(),
    webhookId: madeUp(),
    deliveryId: madeUp(),
  };
  if (sample.trashed && sample.needs.includes("vaultId")) {
    await make({ method: "DELETE", path: `/api/vaults/${vaultId}?force=true` });
  }
  if (sample.needs.includes("inviteId")) objects.inviteId = (await world.rows.invite(account, [vaultId])).id;
  if (sample.needs.includes("sessionId")) objects.sessionId = (await world.rows.session(account)).id;
  if (sample.needs.includes("folderId")) {
    objects.folderId = idIn(
      await make({ method: "POST", path: "/api/folders", json: { name: name(), vaultId } }),
      "folder",
    );
    if (sample.trashed) await make({ method: "DELETE", path: `/api/folders/${objects.folderId}` });
  }
  if (sample.needs.includes("fileId")) {
    const path = `/api/files?vaultId=${vaultId}&name=${name()}`;
    objects.fileId = idIn(await make({ method: "POST", path, bytes: "content" }), "file");
    if (sample.trashed) await make({ method: "DELETE", path: `/api/files/${objects.fileId}` });
  }
  if (sample.needs.includes("uploadId")) {
    const headers = { ...TUS, "upload-length": "4", "upload-metadata": tusMetadata({ filename: name(), vaultId }) };
    const answer = await world.send({ method: "POST", path: "/api/uploads", headers }, account.key);
    objects.uploadId = answer.headers.get("location")?.split("/").at(-1) ?? "";
  }
  if (sample.needs.includes("keyId")) {
    const json = { name: "target", scopes: ["api-keys:write"], vaultIds: [vaultId] };
    objects.keyId = String((await make({ method: "POST", path: "/api/auth/api-keys", json }))?.["id"]);
  }
  if (sample.needs.includes("webhookId")) {
    objects.webhookId = idIn(await make({ method: "POST", path: "/api/webhooks", json: WEBHOOK }), "webhook");
  }
  if (sample.needs.includes("deliveryId")) {
    objects.deliveryId = idIn(await make({ method: "POST", path: `${hook(objects)}/test` }), "delivery");
  }
  return objects;
}

/** A new one of the account; the mailed tokens are the visitor's, whose password may change. */
export async function makeSecret({ rows, visitor }: World, account: TestAccount, kind: keyof Secrets): Promise<string> {
  if (kind === "accessCode") return rows.accessCode();
  if (kind === "refreshToken") return (await rows.session(account)).refreshToken;
  if (kind === "inviteCode") return (await rows.invite(account, [account.defaultVaultId])).code;
  return rows.mailToken(visitor, kind === "verifyToken" ? "verify" : "reset");
}

async function create(world: World, account: TestAccount, call: Call) {
  const answer = await world.send(call, account.key);
  if (answer.status >= 300) throw new Error(`${call.method} ${call.path} answered ${answer.status} ${answer.text}`);
  return answer.fields;
}

function idIn(fields: Readonly<Record<string, unknown>> | null, kind: string): string {
  return String((fields?.[kind] as { id: string } | undefined)?.id);
}

function tusMetadata(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString("base64")}`)
    .join(",");
}
