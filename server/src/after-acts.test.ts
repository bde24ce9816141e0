/** An act that is committed is answered as done, whatever fails afterwards: who is told otherwise does it again. */
import { expect, test } from "vitest";
import { type AfterActs, afterActs } from "./after-acts.test-kit.ts";
import { openTestApp, type TestAnswer, type TestApp, type TestCall } from "./app.test-kit.ts";

type Method = Parameters<TestApp["ask"]>[0];
type Ask = (method: Method, path: string, call?: TestCall) => Promise<TestAnswer>;

const HELLO = Buffer.from("hello").toString("base64");

/** Everything that somebody does with an account; an upload is finished in one part and in two. */
async function live(ask: Ask): Promise<void> {
  const idOf = ({ body }: TestAnswer, kind: string): string => (body[kind] as { id?: string } | undefined)?.id ?? "";
  const json = (value: unknown): TestCall => ({ json: value });
  const bytes = (payload: string, headers = {}): TestCall => ({
    payload,
    headers: { "content-type": "application/octet-stream", ...headers },
  });
  const vaultId = idOf(await ask("POST", "/api/vaults", json({ name: "kept", type: "public" })), "vault");
  const folderId = idOf(await ask("POST", "/api/folders", json({ name: "docs", vaultId })), "folder");
  const fileId = idOf(await ask("POST", `/api/files?vaultId=${vaultId}&name=a`, bytes("twelve bytes")), "file");
  await ask("POST", `/api/files?vaultId=${vaultId}&name=large`, bytes("x".repeat(100_000)));
  await ask("PUT", `/api/files/${fileId}/content`, bytes("seven b"));
  await ask("PATCH", `/api/files/${fileId}`, json({ name: "b" }));
  await ask("PATCH", `/api/files/${fileId}`, json({ folderId }));
  await ask("PATCH", `/api/folders/${folderId}`, json({ name: "other" }));
  await ask("PATCH", `/api/vaults/${vaultId}`, json({ name: "renamed" }));
  const tus = { "tus-resumable": "1.0.0" };
  const metadata = `filename ${HELLO},vaultId ${Buffer.from(vaultId).toString("base64")}`;
  const creation = { ...tus, "upload-length": "10", "upload-metadata": metadata };
  const { headers } = await ask("POST", "/api/uploads", { headers: creation });
  const place = new URL(String(headers["location"]), "http://localhost").pathname;
  const part = { ...tus, "content-type": "application/offset+octet-stream" };
  await ask("PATCH", place, { payload: "hello", headers: { ...part, "upload-offset": "0" } });
  await ask("PATCH", place, { payload: "world", headers: { ...part, "upload-offset": "5" } });
  await ask("DELETE", `/api/folders/${folderId}`);
  await ask("POST", `/api/folders/${folderId}/restore`, json({}));
  await ask("DELETE", `/api/files/${fileId}`);
  await ask("POST", `/api/files/${fileId}/restore`, json({}));
  await ask("DELETE", `/api/files/${fileId}?permanent=true`);
  await ask("POST", "/api/auth/invites", json({ name: "bot" }));
  const key = await ask("POST", "/api/auth/api-keys", json({ name: "spare" }));
  await ask("DELETE", `/api/auth/api-keys/${String(key.body["id"])}`);
  await ask("PATCH", "/api/account", json({ name: "Renamed" }));
  const webhook = await ask(
    "POST",
    "/api/webhooks",
    json({ url: "https://example.com/hook", events: ["file.uploaded"] }),
  );
  const webhookId = idOf(webhook, "webhook");
  await ask("PATCH", `/api/webhooks/${webhookId}`, json({ active: false }));
  await ask("DELETE", `/api/webhooks/${webhookId}`);
  const spare = idOf(await ask("POST", "/api/vaults", json({ name: "spare", type: "public" })), "vault");
  await ask("DELETE", `/api/vaults/${spare}`);
  await ask("DELETE", "/api/trash");
}

interface Step {
  readonly request: string;
  readonly status: number;
  readonly acts: number;
}

async function run(acts: readonly number[] | null): Promise<Step[]> {
  const held: { after: AfterActs | null } = { after: null };
  await using app = await openTestApp({
    replace: ({ database }) => ({ database: (held.after = afterActs(database)).database }),
  });
  const { after } = held;
  if (after === null) throw new Error("the app has no database");
  const { key } = await app.signUp();
  const steps: Step[] = [];
  await live(async (method, path, call = {}) => {
    const most = acts?.[steps.length] ?? 0;
    after.endAfter(most === 0 ? Infinity : most);
    // A key of its own: what keeps the answer for a repeat is part of the act.
    const headers = {
      ...call.headers,
      ...(method === "POST" ? { "idempotency-key": `step-${String(steps.length)}` } : {}),
    };
    const answer = await app.ask(method, path, { key, ...call, headers });
    const request = `${method} ${path.replaceAll(/[0-9a-f-]{36}/g, "ID")}`;
    steps.push({ request, status: answer.status, acts: after.acts });
    after.heal();
    return answer;
  });
  return steps;
}

test("every act that is committed is answered as it is without a fault afterwards", async () => {
  const whole = await run(null);
  expect(whole.filter(({ status }) => status >= 300)).toEqual([]);
  expect(whole.filter(({ acts }) => acts > 0).length).toBeGreaterThan(20);
  expect(await run(whole.map(({ acts }) => acts))).toEqual(whole);
});
