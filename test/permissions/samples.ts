/** For every endpoint a call that succeeds for the owner, on objects made for it alone. */
import { api, endpointsOf } from "@coffer/contract";
import { randomUUID } from "node:crypto";
import type { Call, TestAccount, World } from "./world.ts";

/** The ids that a call names. The vault limit is judged by `vaultId`. */
export interface Objects {
  readonly vaultId: string;
  readonly folderId: string;
  readonly fileId: string;
  readonly uploadId: string;
  readonly keyId: string;
}

export interface Sample {
  /** Which objects the call changes or needs; others keep a made-up id. */
  readonly needs: readonly (keyof Objects)[];
  /** The objects are put in the trash first. */
  readonly trashed?: boolean;
  readonly call: (objects: Objects) => Omit<Call, "method">;
}

const madeUp = (): string => randomUUID();
const name = (): string => `n-${randomUUID()}`;
const TUS = { "tus-resumable": "1.0.0" };
const PART = { ...TUS, "content-type": "application/offset+octet-stream" };

export const SAMPLES: Readonly<Record<string, Sample>> = {
  "account.get": { needs: [], call: () => ({ path: "/api/account" }) },
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
  "vaults.delete": { needs: ["vaultId"], call: ({ vaultId }) => ({ path: `/api/vaults/${vaultId}?force=true` }) },
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
  };
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
  return objects;
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
