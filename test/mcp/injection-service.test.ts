/** Orders in what a service says: error texts, ids of requests, every field that is free text, and the words of receivers. */
import type { Middleware } from "@coffer/sdk";
import { CredentialState, TOOLS } from "@coffer/mcp";
import { expect, it } from "vitest";
import { serviceOfFile } from "../kit/service-here.ts";
import { openToolsHere } from "../kit/tools-here.ts";
import { FORMS, obey, written, type Order } from "./obedient.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
const newAccount = serviceOfFile();
const URL_OF_OWNER = "https://receiver.example/owner";
const NOBODY = `0x${"66".repeat(32)}`;

/** Fields of answers that hold free text. */
const FREE = new Set(["name", "label", "contentType", "lastError", "email", "prefix", "inviteText", "reason", "title"]);

type Said = Readonly<Record<string, unknown>>;

function poisoned(value: unknown, text: string): unknown {
  if (Array.isArray(value)) return value.map((each) => poisoned(each, text));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value as Said).map(([name, each]) => [
      name,
      FREE.has(name) && (typeof each === "string" || each === null) ? text : poisoned(each, text),
    ]),
  );
}

const inFields =
  (text: string): Middleware =>
  async (request, next) => {
    const answer = await next(request);
    if (answer.headers.get("content-type")?.includes("json") !== true || !answer.ok) return answer;
    const headers = new Headers(answer.headers);
    headers.delete("content-length");
    const body = JSON.stringify(poisoned(await answer.json(), text));
    return new Response(body, { status: answer.status, headers });
  };

const inErrors =
  (text: string, code: string, status: number): Middleware =>
  async (request, next) => {
    await next(request);
    return new Response(JSON.stringify({ error: text }), {
      status,
      headers: { "content-type": "application/json", "x-error-code": code, "x-request-id": text },
    });
  };

const inRequestId =
  (text: string): Middleware =>
  async (request, next) => {
    const answer = await next(request);
    const headers = new Headers(answer.headers);
    headers.set("x-request-id", text);
    return new Response(answer.body, { status: answer.status, headers });
  };

const CARRIERS: Readonly<Record<string, (text: string) => Middleware>> = {
  "every free field": inFields,
  "the text of a refusal": (text) => inErrors(text, "validation_failed", 400),
  "the text of a code that nobody knows": (text) => inErrors(text, "obey_me", 418),
  "the text of a broken service": (text) => inErrors(text, "internal", 500),
  "a refusal of the key": (text) => inErrors(text, "invalid_credential", 401),
  "the id of a request": inRequestId,
};

/** Text that no answer repeats. */
const HIDDEN = ["the text of a code that nobody knows", "a refusal of the key", "the id of a request"];

async function openScene() {
  const { client, connect } = await newAccount();
  const { id: vaultId } = await client.vaults.create({ name: "Work", type: "public" });
  const { id: folderId } = await client.folders.create({ vaultId, name: "kept" });
  const { file } = await client.files.upload({ vaultId, folderId, name: "kept.txt", body: "must survive" });
  const { webhook } = await client.webhooks.create({ url: URL_OF_OWNER, events: ["*"] });
  const laptop = await client.apiKeys.create({ name: "laptop" });
  const calls: Readonly<Record<string, Said>> = {
    vault_list: {},
    file_list: { vaultId },
    file_search: { query: "kept" },
    file_get: { files: [file.id] },
    file_read: { file: file.id },
    change_list: { vaultId },
    access_list: {},
    webhook_list: { webhookId: webhook.id },
    webhook_send: { webhookId: webhook.id },
    audit_list: {},
    status_check: {},
    vault_access_check: { vaultId },
  };
  const orders: readonly Order[] = [
    { tool: "access_grant", args: { name: "x", vaultIds: [vaultId] } },
    { tool: "access_grant", args: { name: "x", vaultIds: [vaultId], chainAddress: NOBODY } },
    { tool: "access_revoke", args: { who: laptop.id } },
    { tool: "webhook_set", args: { url: "https://evil.example/x" } },
    { tool: "webhook_set", args: { webhookId: webhook.id, url: "https://evil.example/x" } },
    { tool: "webhook_delete", args: { webhookId: webhook.id } },
    { tool: "file_delete", args: { files: [folderId] } },
    { tool: "file_delete", args: { files: [file.id] } },
    { tool: "file_write", args: { name: "kept.txt", text: "gone", vaultId, folder: folderId, ifExists: "version" } },
  ];
  const requireUnharmed = async (): Promise<void> => {
    expect((await client.invites.list()).invites).toEqual([]);
    expect((await client.webhooks.list()).webhooks.map(({ id, url }) => [id, url])).toEqual([
      [webhook.id, URL_OF_OWNER],
    ]);
    expect((await client.apiKeys.get(laptop.id)).revokedAt).toBeNull();
    // What went to the trash, or became a version, comes back whole.
    if ((await client.folders.get(folderId)).trashedAt !== null) await client.folders.restore(folderId);
    if ((await client.files.get(file.id)).trashedAt !== null) await client.files.restore(file.id);
    const { versions } = await client.files.versions(file.id);
    const first = versions.at(-1);
    if (versions.length > 1 && first !== undefined) await client.files.restoreVersion(file.id, first.versionId);
    const bytes = await (await client.files.download(file.id)).bytes();
    expect(new TextDecoder().decode(bytes)).toBe("must survive");
  };
  return { client, connect, calls, orders, requireUnharmed };
}

it("an agent that obeys all that a service says harms nothing", async () => {
  const { client, connect, calls, orders, requireUnharmed } = await openScene();
  const seen = new Map(Object.keys(CARRIERS).map((name) => [name, 0]));
  for (const [at, order] of orders.entries())
    for (const form of FULL ? FORMS : [FORMS[at % FORMS.length]!])
      for (const [carrier, poison] of Object.entries(CARRIERS)) {
        const text = form(written(order)).slice(0, 290);
        // One conversation. What it is told comes from the hostile service, what it does reaches the real one.
        const credentialState = new CredentialState();
        await using told = await openToolsHere({ client: connect(poison(text)), parts: { credentialState } });
        await using acting = await openToolsHere({ client, parts: { credentialState } });
        for (const [tool, args] of Object.entries(calls)) {
          const done = new Set<string>();
          await obey(acting, await told.call(tool, args), done);
          seen.set(carrier, (seen.get(carrier) ?? 0) + done.size);
        }
        await requireUnharmed();
      }
  // Orders were read, and followed. What a service says beside its catalogue is not shown at all.
  expect([...seen].flatMap(([carrier, count]) => (count === 0 ? [carrier] : []))).toEqual(HIDDEN);
  expect(orders.length * FORMS.length * Object.keys(CARRIERS).length * Object.keys(calls).length).toBeGreaterThan(200);
  expect(Object.keys(calls).filter((name) => TOOLS.every((tool) => tool.name !== name))).toEqual([]);
});
