/**
 * Receive webhooks with a fetch handler, as workers, edge functions, Deno and Bun run them. It needs WebCrypto alone,
 * nothing of Node.
 * Run it: `npm run example -- webhook-receiver-fetch`, or copy it into a project of yours. The program checks each
 * claim and ends with 1 at the first that does not hold.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient } from "@coffer/sdk";
import { resolveSettings } from "@coffer/sdk/node";
import { isKnownEvent, verifyWebhook, WebhookVerificationError } from "@coffer/sdk/webhooks";

interface Settings {
  readonly secrets: readonly string[];
  readonly seen: (line: string) => void;
}

/** The whole receiver: a worker would export it as `fetch`. */
async function receive(request: Request, { secrets, seen }: Settings): Promise<Response> {
  try {
    // The raw text: `request.json()` would give bytes that the signature does not cover.
    const event = await verifyWebhook({ body: await request.arrayBuffer(), headers: request.headers, secrets });
    if (!isKnownEvent(event)) return new Response(null, { status: 204 }); // A newer service sends more kinds: not an error.
    switch (event.type) {
      case "folder.created":
        seen(`folder ${event.data.object.id}`);
        break;
      case "vault.trashed":
        seen(`vault ${event.data.object.id} is in the trash`);
        break;
      default:
        seen(event.type);
    }
    return new Response(null, { status: 204 });
  } catch (error) {
    if (error instanceof WebhookVerificationError) return Response.json({ error: error.reason }, { status: 400 });
    throw error;
  }
}

const secrets: string[] = [];
const lines: string[] = [];
const deliveries: Request[] = [];
const server = createServer((incoming, outgoing) => {
  void (async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const headers = new Headers(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
    const request = new Request(`http://receiver.test${incoming.url ?? ""}`, {
      method: "POST",
      headers,
      body: Buffer.concat(chunks),
    });
    deliveries.push(request.clone());
    const response = await receive(request, { secrets, seen: (line) => lines.push(line) });
    outgoing.writeHead(response.status).end(await response.text());
  })();
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

// The address and the key come from SERVICE_BASE_URL and SERVICE_API_KEY, or from the file that SERVICE_CONFIG_FILE names.
const { baseUrl, apiKey } = await resolveSettings();
if (baseUrl === null || apiKey === null)
  throw new Error("Set SERVICE_CONFIG_FILE, or SERVICE_BASE_URL and SERVICE_API_KEY.");
const client = createClient({ baseUrl, credentials: apiKey });
try {
  await receiveEvents(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`);
  console.log("every claim holds");
} finally {
  server.closeAllConnections();
  server.close();
}

async function receiveEvents(url: string): Promise<void> {
  const { webhook, secret } = await client.webhooks.create({ url, events: ["*"], description: "every kind" });
  secrets.push(secret);
  const vault = await client.vaults.create({ name: `Short-lived ${randomUUID()}`, type: "public" });
  const folder = await client.folders.create({ vaultId: vault.id, name: "inbox" });
  await client.vaults.delete(vault.id, { force: true });
  await arrivalOf(`vault ${vault.id} is in the trash`);
  await arrivalOf(`folder ${folder.id}`);
  claim("each change arrives at the handler, verified and narrowed", lines.includes("vault.created"));

  const [first] = deliveries;
  assert.ok(first !== undefined);
  const text = await first.clone().text();
  const replayed = await receive(copyOf(first, text), { secrets, seen: () => undefined });
  claim("a copy of a delivery verifies while it is young", replayed.status === 204);
  claim("one with a byte changed does not", (await reasonOf(first, text.replace("2", "3"))) === "no_match");
  const parsed = JSON.stringify(JSON.parse(text), null, 2);
  claim("nor does a body that was parsed and rendered again", (await reasonOf(first, parsed)) === "no_match");
  secrets[0] = secret.replace(/.{4}=$/, "AAAA=");
  claim("nor anything with another secret", (await reasonOf(first, text)) === "no_match");

  const failed = await client.webhooks.test(webhook.id);
  claim("the service says what the receiver answered", failed.httpStatus === 400 && failed.lastError === "HTTP 400");
  const { attempts } = await client.webhooks.delivery(webhook.id, failed.id);
  claim("word for word", attempts[0]?.responseBody === '{"error":"no_match"}');
}

function copyOf(request: Request, body: string): Request {
  return new Request(request.url, { method: "POST", headers: request.headers, body });
}

/** Why the receiver refuses this body with the headers of a real delivery. */
async function reasonOf(request: Request, body: string): Promise<unknown> {
  const response = await receive(copyOf(request, body), { secrets, seen: () => undefined });
  const answer: unknown = response.status === 400 ? await response.json() : {};
  return (answer as { readonly error?: unknown }).error;
}

/** Waits until the handler has seen it, at most two seconds. */
async function arrivalOf(line: string): Promise<void> {
  for (let waited = 0; !lines.includes(line); waited += 20) {
    assert.ok(waited < 2_000, `${line} did not come`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function claim(text: string, holds: boolean): void {
  assert.ok(holds, text);
  console.log(`ok: ${text}`);
}
