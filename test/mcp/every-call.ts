/** Calls of every tool over the service in this process: those that succeed, and those that fail. */
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { makeDirectory } from "../kit/directory.ts";
import type { AccountHere, NewAccount } from "../kit/service-here.ts";

export type Args = Readonly<Record<string, unknown>>;

export interface EveryCall {
  readonly service: AccountHere;
  readonly folder: string;
  readonly vaultId: string;
  readonly fileId: string;
  /** For each tool, its arguments: one call that succeeds, then calls that fail. */
  readonly calls: Readonly<Record<string, readonly Args[]>>;
}

const ABSENT = "0b6d5e0e-6a3b-4f0f-9e0a-1c2d3e4f5a6b";

export async function openEveryCall(newAccount: NewAccount): Promise<EveryCall> {
  const service = await newAccount();
  const { client } = service;
  const folder = makeDirectory();
  const { id: vaultId } = await client.vaults.create({ name: "Work & more", type: "public" });
  const twin = await client.vaults.create({ name: "Twin", type: "public" });
  await client.vaults.create({ name: "twin", type: "public" });
  const { id: folderId } = await client.folders.create({ vaultId, name: "Plans" });
  const text = { vaultId, contentType: "text/plain" };
  const { file } = await client.files.upload({ ...text, folderId, name: "plan.txt", body: "the plan\nof March" });
  await client.files.replace(file.id, { body: "the plan\nof April", contentType: "text/plain" });
  const gone = await client.files.upload({ ...text, name: "gone.txt", body: "gone" });
  await client.files.delete(gone.file.id);
  const moved = await client.files.upload({ ...text, name: "moved.txt", body: "m" });
  const trashed = await client.files.upload({ ...text, name: "trashed.txt", body: "t" });
  const { webhook } = await client.webhooks.create({ url: "https://receiver.example/hook", events: ["*"] });
  const doomed = await client.webhooks.create({ url: "https://receiver.example/doomed", events: ["*"] });
  await client.webhooks.test(webhook.id).catch(() => undefined);
  const key = await client.apiKeys.create({ name: "laptop" });
  writeFileSync(join(folder, "local.txt"), "local");
  return {
    service,
    folder,
    vaultId,
    fileId: file.id,
    calls: {
      status_check: [{}, { surprise: 1 }],
      vault_list: [{}, { vaultId: ABSENT }],
      vault_access_check: [{ vaultId }, { vaultId: ABSENT }],
      file_list: [{ vaultId }, { vaultId: "TWIN" }],
      file_search: [{ query: "plan" }, { since: "someday" }],
      file_get: [{ files: [file.id] }, { files: ["none.txt"], vaultId }],
      file_read: [{ file: file.id }, { file: ABSENT }],
      file_download: [
        { files: [file.id], dest: "got.txt" },
        { files: [file.id], dest: "/etc/passwd" },
      ],
      file_verify: [{ file: file.id, path: "local.txt" }, { file: ABSENT }],
      change_list: [{ vaultId }, { cursor: "none" }],
      transfer_get: [{ transferId: "none" }],
      transfer_cancel: [{ transferId: "none" }],
      file_upload: [{ paths: ["local.txt"], vaultId }, { paths: ["none.txt"], vaultId }, { paths: ["local.txt"] }],
      file_write: [
        { name: "new.txt", text: "new", vaultId },
        { name: "new.txt", text: "other", vaultId },
      ],
      file_move: [
        { files: [moved.file.id], to: "Plans", vaultId },
        { files: [ABSENT], to: "/", vaultId },
        { files: [] },
      ],
      file_delete: [{ files: [trashed.file.id] }, { files: ["Plans"], vaultId }],
      file_restore: [{ files: [gone.file.id] }, { files: [file.id], version: "99" }],
      vault_create: [{ name: "Made" }, { name: "x".repeat(300) }],
      access_list: [{}, { cursor: "none" }],
      access_grant: [
        { name: "bot", vaultIds: [twin.id] },
        { name: "bot", vaultIds: ["Nowhere"] },
      ],
      access_revoke: [{ who: key.id }, { who: ABSENT }],
      webhook_list: [{ webhookId: webhook.id }, { webhookId: ABSENT }],
      webhook_set: [{ webhookId: webhook.id, active: false }, { url: "nonsense" }],
      webhook_delete: [{ webhookId: doomed.webhook.id }, { webhookId: ABSENT }],
      webhook_send: [{ webhookId: webhook.id }, { webhookId: ABSENT }],
      audit_list: [{}, { limit: "many" }],
    },
  };
}
