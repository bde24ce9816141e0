import { EVENT_KINDS, eventSchema, type EventKind } from "@coffer/contract";
import { afterAll, beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";
import { openTestApp, type TestApp } from "../../app.test-kit.ts";
import { renderPayload } from "./payload.ts";

let test: TestApp;
beforeAll(async () => {
  test = await openTestApp();
});
afterAll(() => test[Symbol.asyncDispose]());

type Json = Record<string, unknown>;

/** One account's life that makes an event of every kind that storage, keys and invites have. */
async function live(key: string): Promise<void> {
  const ask = async (method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE", path: string, json?: unknown) => {
    const answer = await test.ask(method, path, json === undefined ? { key, payload: "" } : { key, json });
    expect([path, answer.status < 300]).toEqual([path, true]);
    return answer.body;
  };
  const idIn = (body: Json, name: string): string => String((body[name] as Json)["id"]);
  const vaultId = idIn(await ask("POST", "/api/vaults", { name: "secret-name", type: "public" }), "vault");
  await ask("PATCH", `/api/vaults/${vaultId}`, { name: "secret-name-2" });
  const folderId = idIn(await ask("POST", "/api/folders", { name: "secret-name", vaultId }), "folder");
  await ask("PATCH", `/api/folders/${folderId}`, { name: "secret-name-2" });
  const fileId = idIn(await ask("POST", `/api/files?name=secret-name.txt&vaultId=${vaultId}`), "file");
  await ask("PATCH", `/api/files/${fileId}`, { name: "secret-name-2.txt" });
  await ask("DELETE", `/api/files/${fileId}`);
  await ask("POST", `/api/files/${fileId}/restore`);
  await ask("DELETE", `/api/files/${fileId}?permanent=true`);
  await ask("DELETE", `/api/folders/${folderId}`);
  await ask("POST", `/api/folders/${folderId}/restore`);
  await ask("DELETE", `/api/folders/${folderId}`);
  await ask("DELETE", "/api/trash");
  await ask("DELETE", `/api/vaults/${vaultId}`);
  await ask("POST", `/api/vaults/${vaultId}/restore`, { name: "secret-name-3" });
  await ask("DELETE", `/api/vaults/${vaultId}?permanent=true`);
  const keyId = String((await ask("POST", "/api/auth/api-keys", { name: "secret-name" }))["id"]);
  await ask("DELETE", `/api/auth/api-keys/${keyId}`);
  const inviteId = String((await ask("POST", "/api/auth/invites", { name: "secret-name" }))["id"]);
  await ask("DELETE", `/api/auth/invites/${inviteId}`);
}

/** Made elsewhere: by a redeemed invite, a mail, a payment, a shared vault, and a test delivery. */
const ELSEWHERE: readonly EventKind[] = [
  "invite.redeemed",
  "account.email_verified",
  "account.plan_changed",
  "vault.member_added",
  "vault.member_removed",
  "vault.member_ended",
  "webhook.test",
];

it("every change that is an event fits its schema, is thin, and holds no name [D6-payload]", async () => {
  const { id, key } = await test.signUp();
  await live(key);
  const { database } = test.deps;
  const rows = await database.all(database.build.selectFrom("changes").selectAll().where("account_id", "=", id));
  const seen = new Set<string>();
  for (const row of rows) {
    const text = renderPayload(row);
    if (text === null) continue;
    const kind = EVENT_KINDS.find((each) => each === row.action);
    if (kind === undefined) throw new Error(`${row.action} is no event kind`);
    const event = z.parse(eventSchema(kind), JSON.parse(text));
    expect(event.data.sequence).toBe(row.sequence);
    expect(text).not.toContain("secret-name");
    expect(Buffer.byteLength(text)).toBeLessThan(1000);
    seen.add(kind);
  }
  expect([...seen].sort()).toEqual(EVENT_KINDS.filter((kind) => !ELSEWHERE.includes(kind)).sort());
});

it("a change that is no event has no payload", async () => {
  const { id } = await test.signUp();
  const { database } = test.deps;
  const query = database.build.selectFrom("changes").selectAll().where("account_id", "=", id);
  const made = (await database.all(query)).find(({ action }) => action === "account.created");
  if (made === undefined) throw new Error("an account was made without a record");
  expect(renderPayload(made)).toBeNull();
});
