/**
 * Receive webhooks with Fastify: take the raw body, verify it, handle each message once, answer soon.
 * Run it: `npm run example -- webhook-receiver-fastify`, or copy it into a project of yours. The program checks each
 * claim and ends with 1 at the first that does not hold.
 */
import assert from "node:assert/strict";
import { createClient } from "@coffer/sdk";
import { resolveSettings } from "@coffer/sdk/node";
import { isEvent, verifyWebhook, WebhookVerificationError, type ReceivedEvent } from "@coffer/sdk/webhooks";
import fastify from "fastify";

/** Newest first. Your program keeps them with its other secrets. */
const secrets: string[] = [];
/** Ids of handled messages. Your program keeps them beside the results of the messages. */
const handled = new Set<string>();
const received: ReceivedEvent[] = [];

const app = fastify();
// The signature covers the bytes as they came: Fastify must not parse them.
app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => {
  done(null, body);
});
app.post<{ Body: Buffer }>("/webhooks", async (request, reply) => {
  try {
    const event = await verifyWebhook({ body: request.body, headers: request.headers, secrets });
    const id = String(request.headers["webhook-id"]);
    // A delivery can come twice: if this answer is lost, the service sends it again under the same id.
    if (!handled.has(id)) {
      handled.add(id);
      received.push(event);
    }
    return await reply.code(204).send();
  } catch (error) {
    if (error instanceof WebhookVerificationError) return reply.code(400).send({ error: error.reason });
    throw error; // Not the request's fault: 500, and the delivery comes again.
  }
});
const address = await app.listen({ host: "127.0.0.1", port: 0 });

// The address and the key come from SERVICE_BASE_URL and SERVICE_API_KEY, or from the file that SERVICE_CONFIG_FILE names.
const { baseUrl, apiKey } = await resolveSettings();
if (baseUrl === null || apiKey === null)
  throw new Error("Set SERVICE_CONFIG_FILE, or SERVICE_BASE_URL and SERVICE_API_KEY.");
const client = createClient({ baseUrl, credentials: apiKey });
try {
  await receiveEvents();
  console.log("every claim holds");
} finally {
  await app.close();
}

async function receiveEvents(): Promise<void> {
  const url = `${address}/webhooks`;
  const { webhook, secret } = await client.webhooks.create({ url, events: ["file.uploaded"] });
  secrets.push(secret);

  const test = await client.webhooks.test(webhook.id);
  claim("a test is delivered and answered", test.status === "success" && test.httpStatus === 204);
  claim("and is an event like the others", received[0]?.type === "webhook.test");

  const body = new TextEncoder().encode("three words long");
  const { file } = await client.files.upload({ name: "note.txt", body });
  const event = await arrival(1);
  assert.ok(isEvent(event, "file.uploaded"));
  claim(
    "the event of an upload has its file and size",
    event.data.object.id === file.id && event.data.object.size === 16,
  );
  claim("but not its name", !JSON.stringify(event).includes("note.txt"));

  const rotated = await client.webhooks.rotateSecret(webhook.id);
  await client.files.upload({ name: "second.txt", body });
  claim("a receiver that has only the old secret goes on", isEvent(await arrival(2), "file.uploaded"));
  secrets.splice(0, 1, rotated.secret);
  await client.files.upload({ name: "third.txt", body });
  claim("as does one that has the new one", isEvent(await arrival(3), "file.uploaded"));

  const forged = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
  claim("an unsigned request is refused", forged.status === 400 && received.length === 4);
}

/** The event of that number, which comes within two seconds. */
async function arrival(index: number): Promise<ReceivedEvent> {
  for (let waited = 0; waited < 2_000; waited += 20) {
    const event = received[index];
    if (event !== undefined) return event;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`event ${String(index)} did not come`);
}

function claim(text: string, holds: boolean): void {
  assert.ok(holds, text);
  console.log(`ok: ${text}`);
}
