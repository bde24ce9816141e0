/** For every endpoint a call that succeeds for the owner, on objects made for it alone. */
import { randomBytes, randomUUID } from "node:crypto";
import { api, endpointsOf, END_STEP, type EndpointDefinition, type ErrorCode, type Scope } from "@coffer/contract";
import { tusMetadata } from "../../conformance/samples.ts";
import { PASSWORD } from "./rows.ts";
import type { Call, TestAccount, World } from "./world.ts";
import { batchForm, FORM_TYPE } from "../../kit/batch-form.ts";

/** The ids that a call names. The vault limit is judged by `vaultId`. */
export interface Objects {
  readonly vaultId: string;
  readonly folderId: string;
  readonly fileId: string;
  readonly uploadId: string;
  readonly keyId: string;
  readonly inviteId: string;
  readonly sessionId: string;
  readonly webhookId: string;
  readonly deliveryId: string;
  /** Of the file: one that was replaced. */
  readonly versionId: string;
  readonly sourceId: string;
}

/** What open endpoints ask for instead of a credential. */
type Secret = "accessCode" | "inviteCode" | "refreshToken" | "verifyToken" | "resetToken";

interface Row {
  /** Objects that the call needs besides those of its path. */
  readonly needs?: readonly (keyof Objects)[];
  /** The objects are put in the trash first. */
  readonly trashed?: boolean;
  /** What the endpoint's own code answers whoever is let in, where the world lacks an outside part; absent: a success. */
  readonly outcome?: ErrorCode;
  /** Scopes that the caller's key needs besides the endpoint's, because the call passes them on. */
  readonly passesOn?: readonly Scope[];
  /** A new one goes with each call, which uses it up. */
  readonly secret?: Secret;
  /** What is sent besides the path. */
  readonly sends?: (objects: Objects, secret: string) => Omit<Call, "method" | "path"> & { readonly query?: string };
}

export interface Sample extends Row {
  /** Which objects the call changes or needs; others keep a made-up id. */
  readonly needs: readonly (keyof Objects)[];
  readonly call: (objects: Objects, secret: string) => Omit<Call, "method">;
}

const madeUp = (): string => randomUUID();
const name = (): string => `n-${randomUUID()}`;
const email = (): string => `${randomUUID()}@example.test`;
const address = (): string => `0x${randomBytes(32).toString("hex")}`;
/** Nobody listens there: what is sent is refused at once. Nothing here makes the event happen. */
const WEBHOOK = { url: "https://127.0.0.1:9/hook", events: ["account.plan_changed"] };
const TUS = { "tus-resumable": "1.0.0" };
const NEW_PASSWORD = `${PASSWORD} again`;

const endingLater = (): string => new Date((Math.floor(Date.now() / END_STEP) + 2) * END_STEP).toISOString();
const renamed: Row = { sends: () => ({ json: { name: name() } }) };
const inVault: Row = { needs: ["vaultId"], sends: ({ vaultId }) => ({ query: `vaultId=${vaultId}` }) };
const sending = (json: object): Row => ({ sends: () => ({ json }) });
const ofOne = (json: object = {}): Row => ({
  needs: ["fileId"],
  sends: ({ fileId }) => ({ json: { ids: [fileId], ...json } }),
});
const signedIn: Row = { secret: "refreshToken", sends: (_objects, refreshToken) => ({ json: { refreshToken } }) };
const withTus: Row = { sends: () => ({ headers: TUS }) };
const notConfigured = (more: object = {}): Row => ({
  outcome: "not_configured",
  ...sending({ code: "code", state: "state", ...more }),
});
/** Shared vaults need a chain, which the server here has none of: whoever is let in learns that the vault is a public one. */
const ofShared: Row = { outcome: "public_vault" };

/** Nothing is sent to them but their path. */
const BARE = [
  ...["account.get", "sessions.list", "sessions.end", "invites.list", "invites.revoke", "billing.get"],
  ...[
    "webhooks.list",
    "webhooks.get",
    "webhooks.delete",
    "webhooks.test",
    "webhooks.rotateSecret",
    "webhooks.deliveries",
    "webhooks.delivery",
    "webhooks.redeliver",
  ],
  ...["webhookEvents.list", "events.stream", "changes.list", "audit.list"],
  ...["apiKeys.list", "apiKeys.get", "apiKeys.revoke", "apiKeys.rotate", "vaults.list", "vaults.get"],
  ...["folders.get", "folders.delete", "files.get", "files.content", "files.contentHead", "files.delete"],
  ...["uploads.options", "system.health", "system.ready", "system.metrics"],
];

const ROWS: Readonly<Record<string, Row>> = {
  ...Object.fromEntries(BARE.map((id) => [id, {}])),
  "account.linkChainChallenge": sending({}),
  "account.linkChain": {
    // Signing is the business of its own tests; a nonce that was never given is refused after the matrix.
    outcome: "token_invalid",
    ...sending({ chainAddress: address(), signature: "AAAA", nonce: "never given" }),
  },
  "auth.signup": {
    secret: "accessCode",
    sends: (_objects, accessCode) => ({ json: { email: email(), password: PASSWORD, accessCode } }),
  },
  "auth.login": { outcome: "wrong_credentials", sends: () => ({ json: { email: email(), password: PASSWORD } }) },
  "auth.refresh": signedIn,
  "auth.logout": signedIn,
  "auth.changePassword": {
    // The right one would end the sessions that the matrix is asked with.
    outcome: "wrong_password",
    ...sending({ currentPassword: "not the password", newPassword: NEW_PASSWORD }),
  },
  "auth.forgotPassword": { sends: () => ({ json: { email: email() } }) },
  "auth.resendVerification": { sends: () => ({ json: { email: email() } }) },
  "auth.resetPassword": {
    secret: "resetToken",
    sends: (_objects, token) => ({ json: { token, newPassword: NEW_PASSWORD } }),
  },
  "auth.verifyEmail": { secret: "verifyToken", sends: (_objects, token) => ({ json: { token } }) },
  "auth.checkAccessCode": sending({ code: "unknown" }),
  "identityProvider.authorize": { outcome: "not_configured" },
  "identityProvider.authorizeZklogin": {
    outcome: "not_configured",
    sends: () => ({ query: `nonce=${"n".repeat(27)}` }),
  },
  "identityProvider.callback": notConfigured(),
  "identityProvider.zkloginToken": notConfigured(),
  "identityProvider.zkloginAuth": notConfigured({ ephemeralPublicKey: "AAAA", maxEpoch: 1, randomness: "1" }),
  "invites.create": {
    needs: ["vaultId"],
    passesOn: ["files:read"],
    sends: ({ vaultId }) => ({ json: { name: "made", scopes: ["files:read"], vaultIds: [vaultId] } }),
  },
  "invites.create with accessUntil": {
    needs: ["vaultId"],
    passesOn: ["files:read"],
    sends: ({ vaultId }) => ({
      json: { name: "made", scopes: ["files:read"], vaultIds: [vaultId], accessUntil: endingLater() },
    }),
  },
  "invites.redeem": {
    secret: "inviteCode",
    sends: (_objects, code) => ({ json: { code, chainAddress: address() } }),
  },
  "billing.checkout": sending({ plan: "pro" }),
  "billing.changePlan": { outcome: "subscription_required", ...sending({ plan: "pro" }) },
  "billing.events": {
    outcome: "signature_invalid",
    sends: () => ({
      headers: {
        "webhook-id": "msg_1",
        "webhook-timestamp": String(Math.floor(Date.now() / 1000)),
        "webhook-signature": `v1,${Buffer.alloc(32).toString("base64")}`,
        "content-type": "application/json",
      },
      bytes: "{}",
    }),
  },
  "webhooks.create": sending(WEBHOOK),
  "webhooks.update": sending({ active: false }),
  "webhooks.recover": sending({ since: "2026-01-01T00:00:00.000Z" }),
  "account.update": renamed,
  "development.signup": { sends: () => ({ json: { email: email() } }) },
  "apiKeys.create": {
    needs: ["vaultId"],
    sends: ({ vaultId }) => ({ json: { name: "made", scopes: ["api-keys:write"], vaultIds: [vaultId] } }),
  },
  "vaults.create": { sends: () => ({ json: { name: name(), type: "public" } }) },
  "vaults.update": renamed,
  "vaults.delete": { sends: () => ({ query: "force=true&permanent=true" }) },
  "vaults.restore": { trashed: true },
  "members.list": ofShared,
  "members.add": { ...ofShared, sends: () => ({ json: { chainAddress: address() } }) },
  "members.add with an end": {
    ...ofShared,
    sends: () => ({ json: { chainAddress: address(), until: endingLater() } }),
  },
  "members.remove": ofShared,
  "ownership.claim": { ...ofShared, ...sending({}) },
  "deletion.challenge": { ...ofShared, ...sending({ act: "delete-vault" }) },
  "vaultKeys.list": ofShared,
  "vaultKeys.publish": { ...ofShared, ...sending({ record: "AAAA" }) },
  "vaultKeys.steps": ofShared,
  "folderNames.get": ofShared,
  "folderNames.stage": { ...ofShared, ...sending({ folderId: null, keyId: "0".repeat(64), entries: [] }) },
  "folders.create": { needs: ["vaultId"], sends: ({ vaultId }) => ({ json: { name: name(), vaultId } }) },
  "folders.list": inVault,
  "folders.update": renamed,
  "folders.restore": { trashed: true },
  "folders.entries": {},
  "files.upload": {
    needs: ["vaultId"],
    sends: ({ vaultId }) => ({ query: `vaultId=${vaultId}&name=${name()}`, bytes: "content" }),
  },
  "files.batch": {
    needs: ["vaultId"],
    sends: ({ vaultId }) => ({
      query: `vaultId=${vaultId}`,
      headers: { "content-type": FORM_TYPE },
      bytes: batchForm([{ said: { name: name() }, content: "content" }]).toString(),
    }),
  },
  "files.list": inVault,
  "files.search": inVault,
  "files.replace": { sends: () => ({ bytes: "replaced" }) },
  "files.update": renamed,
  "files.versions": {},
  "files.entries": {},
  "files.restoreVersion": {},
  "files.deleteVersion": {},
  "files.restore": { trashed: true },
  "files.trashMany": ofOne(),
  "files.restoreMany": ofOne(),
  "files.moveMany": ofOne({ folderId: null }),
  "files.commit": {
    needs: ["vaultId", "fileId"],
    sends: ({ vaultId, fileId }) => ({ json: { vaultId, changes: [{ id: fileId, ifMatch: "*", name: name() }] } }),
  },
  "uploads.create": {
    needs: ["vaultId"],
    sends: ({ vaultId }) => ({
      headers: { ...TUS, "upload-length": "4", "upload-metadata": tusMetadata({ filename: name(), vaultId }) },
    }),
  },
  "uploads.head": withTus,
  "uploads.append": {
    sends: () => ({
      headers: { ...TUS, "content-type": "application/offset+octet-stream", "upload-offset": "0" },
      bytes: "four",
    }),
  },
  "uploads.terminate": withTus,
  "trash.list": inVault,
  "trash.empty": inVault,
  "system.network": { outcome: "not_found" },
  "system.openapi": {},
};

/** Calls of their own in the matrix beside their endpoint's, under an id that names both. */
const ENDS: readonly EndpointDefinition[] = [
  { ...api.members.add, id: "members.add with an end" },
  { ...api.invites.create, id: "invites.create with accessUntil" },
];

export const ENDPOINTS: readonly EndpointDefinition[] = [...endpointsOf(api), ...ENDS];

/** The endpoints of the samples. */
export const SAMPLED = Object.keys(ROWS);

/** Throws when an endpoint has no sample: a new endpoint must not pass by being left out. */
export function sampleOf(id: string): Sample {
  const row = ROWS[id];
  const path = ENDPOINTS.find((endpoint) => endpoint.id === id)?.path;
  if (row === undefined || path === undefined)
    throw new Error(`${id} has no sample call in test/security/permissions/samples.ts`);
  const places = [...path.matchAll(/\{(\w+)\}/g)].map(([, place = ""]) => place as keyof Objects | "chainAddress");
  const ids = places.filter((place) => place !== "chainAddress");
  return {
    ...row,
    needs: [...new Set([...ids, ...(row.needs ?? [])])],
    call(objects, secret) {
      const { query, ...sent } = row.sends?.(objects, secret) ?? {};
      const filled = path.replace(/\{(\w+)\}/g, (_, place: string) => objects[place as keyof Objects] ?? address());
      return { path: query === undefined ? filled : `${filled}?${query}`, ...sent };
    },
  };
}

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
    versionId: madeUp(),
    sourceId: madeUp(),
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
    const made = await make({ method: "POST", path, bytes: "content" });
    objects.fileId = idIn(made, "file");
    if (sample.needs.includes("versionId") || sample.needs.includes("sourceId")) {
      objects.versionId = objects.sourceId = (made?.["file"] as { versionId: string }).versionId;
      await make({ method: "PUT", path: `/api/files/${objects.fileId}/content`, bytes: "newer" });
    }
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
    objects.deliveryId = idIn(
      await make({ method: "POST", path: `/api/webhooks/${objects.webhookId}/test` }),
      "delivery",
    );
  }
  return objects;
}

/** A new one of the account; the mailed tokens are the visitor's, whose password may change. */
export async function makeSecret({ rows, visitor }: World, account: TestAccount, kind: Secret): Promise<string> {
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
