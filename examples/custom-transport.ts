/**
 * A transport of your own: anything from Request to Response. This one goes through `fetch` and counts. It loses the
 * first answer to every creation, as a bad network does, and the client copes.
 * Run it: `npm run example -- custom-transport`, or copy it into a project of yours. The program checks each claim and
 * ends with 1 at the first that does not hold.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createClient, type Middleware, type Transport } from "@coffer/sdk";
import { resolveSettings } from "@coffer/sdk/node";

// The address and the key come from SERVICE_BASE_URL and SERVICE_API_KEY, or from the file that SERVICE_CONFIG_FILE names.
const { baseUrl, apiKey } = await resolveSettings();
if (baseUrl === null || apiKey === null)
  throw new Error("Set SERVICE_CONFIG_FILE, or SERVICE_BASE_URL and SERVICE_API_KEY.");

const sent: { readonly line: string; readonly key: string | null }[] = [];
const lost = new Set<string>();

const badNetwork: Transport = async (request) => {
  const key = request.headers.get("idempotency-key");
  sent.push({ line: `${request.method} ${new URL(request.url).pathname}`, key });
  const response = await fetch(request.url, request);
  if (request.method !== "POST" || key === null || lost.has(key)) return response;
  lost.add(key);
  await response.body?.cancel();
  throw new TypeError("the answer was lost");
};

// Middleware sees every attempt, outermost first, and may change request and response.
const attempts: string[] = [];
const tracing: Middleware = (request, next, { endpointId, attempt }) => {
  attempts.push(`${endpointId} ${String(attempt)}`);
  return next(request);
};

const client = createClient({
  baseUrl,
  credentials: apiKey,
  transport: badNetwork,
  middleware: [tracing],
  retry: { baseDelayMs: 10 },
});

const name = `Example ${randomUUID()}`;
const vault = await client.vaults.create({ name, type: "public" });
try {
  claim("the creation was sent again", attempts.join() === "vaults.create 1,vaults.create 2");
  claim("under the same Idempotency-Key", sent.length === 2 && sent[0]?.key !== null && sent[0]?.key === sent[1]?.key);
  const named = [];
  for await (const each of client.vaults.list()) if (each.name === name) named.push(each.id);
  claim("and made one vault", named.length === 1 && named[0] === vault.id);

  const body = new TextEncoder().encode("hello");
  const { file } = await client.files.upload({ vaultId: vault.id, name: "hello.txt", contentType: "text/plain", body });
  const { files } = await client.files.list({ vaultId: vault.id });
  claim("an upload too", files.length === 1 && files[0]?.id === file.id);
  const download = await client.files.download(file.id);
  claim("bytes come through the same transport", new TextDecoder().decode(await download.bytes()) === "hello");
  claim(
    "reads carry no Idempotency-Key",
    sent.filter(({ line }) => line.startsWith("GET")).every(({ key }) => key === null),
  );
} finally {
  await client.vaults.delete(vault.id, { force: true });
}
console.log("every claim holds");

function claim(sentence: string, holds: boolean): void {
  assert.ok(holds, sentence);
  console.log(`ok  ${sentence}`);
}
