/** A driver may roll an act back and run it again (ports/database.ts): whoever asks must not be able to tell. */
import { afterEach, expect, test } from "vitest";
import { openTestApp, type TestApp } from "./app.test-kit.ts";
import { rerunning } from "./rerunning.test-kit.ts";
import type { Principal } from "./handler.ts";
import { verifyAccount } from "./features/audit/verify.ts";
import { openTestEngine } from "./features/webhooks/delivery/engine.test-kit.ts";
import { recoverFailed } from "./features/webhooks/redelivering.ts";

const opened: TestApp[] = [];
afterEach(async () => {
  for (const app of opened.splice(0)) await app[Symbol.asyncDispose]();
});

async function open(options: Parameters<typeof openTestApp>[0] = {}): Promise<TestApp> {
  const app = await openTestApp(options);
  opened.push(app);
  return app;
}

/** Makes, changes and deletes; answers every status, and what the account is then. */
async function live(app: TestApp) {
  const { id, key } = await app.signUp();
  const statuses: number[] = [];
  const ask = async (method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE", path: string, json?: unknown) => {
    const isBytes = typeof json === "string";
    const sent = isBytes
      ? { payload: json, headers: { "content-type": "text/plain" } }
      : json === undefined
        ? {}
        : { json };
    const answer = await app.ask(method, path, { key, ...sent });
    statuses.push(answer.status);
    return answer.body as Record<string, Record<string, string>>;
  };
  const idOf = async (path: string, kind: string, json: unknown) => (await ask("POST", path, json))[kind]?.["id"] ?? "";
  const vaultId = await idOf("/api/vaults", "vault", { name: "kept", type: "public" });
  const folderId = await idOf("/api/folders", "folder", { name: "docs", vaultId });
  const file = await idOf(`/api/files?vaultId=${vaultId}&folderId=${folderId}&name=a`, "file", "twelve bytes");
  await ask("PUT", `/api/files/${file}/content`, "seven b");
  await ask("PATCH", `/api/files/${file}`, { name: "b" });
  await ask("DELETE", `/api/folders/${folderId}`);
  await ask("POST", `/api/folders/${folderId}/restore`, {});
  await ask("DELETE", `/api/files/${file}`);
  await ask("DELETE", "/api/trash");
  await idOf(`/api/files?vaultId=${vaultId}&name=c`, "file", "five!");
  await ask("POST", "/api/auth/invites", { name: "bot" });
  await ask("POST", "/api/auth/api-keys", { name: "spare" });
  await ask("PATCH", "/api/account", { name: "Renamed" });
  await ask("POST", "/api/webhooks", { url: "https://example.com/hook", events: ["file.uploaded"] });
  const { account } = await ask("GET", "/api/account");
  const { database } = app.deps;
  const log = await database.snapshot((queries) => verifyAccount(queries, id));
  const noted = database.build.selectFrom("changes").select("action").where("account_id", "=", id).orderBy("sequence");
  const actions = (await database.all(noted)).map(({ action }) => action);
  return { statuses, usage: account?.["usage"], fault: log?.fault, entries: log?.entries, actions };
}

test("an account is the same after acts that ran twice as after acts that ran once", async () => {
  const once = await live(await open());
  expect(once.statuses.filter((status) => status >= 300)).toEqual([]);
  expect(once).toMatchObject({ usage: { bytes: 5, files: 1 }, fault: null, entries: once.actions.length });
  const app = await open({ replace: ({ database }) => ({ database: rerunning(database) }) });
  expect(await live(app)).toEqual(once);
});

test("what is sent again is counted once, however often the act that does it runs", async () => {
  await using engine = await openTestEngine();
  const webhookId = await engine.endpoint();
  await engine.change();
  await engine.change();
  await engine.run();
  const { deps } = engine.app;
  const { database } = deps;
  await database.run(database.build.updateTable("webhook_deliveries").set({ status: "failed" }));
  const row = await engine.webhook(webhookId);
  const range = { webhookId, since: 0, until: engine.app.clock.now() + 1 };
  const caller = callerOf(row.account_id);
  expect(await recoverFailed({ ...deps, database: rerunning(database) }, caller, range)).toBe(2);
  expect(await engine.deliveries(webhookId)).toHaveLength(4);
});

function callerOf(accountId: string): Principal {
  const origin = { requestId: "r", address: "192.0.2.1", userAgent: null };
  return {
    kind: "development",
    accountId,
    keyId: null,
    sessionId: null,
    name: null,
    accessLevel: "owner",
    scopes: null,
    vaultIds: null,
    chainAddress: null,
    expiresAt: null,
    budgets: [],
    origin,
  };
}
