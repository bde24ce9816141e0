import { verifyWebhook, WebhookVerificationError } from "@coffer/sdk/webhooks";
import fastify from "fastify";

const app = fastify();
// The signature covers the bytes as they came: Fastify must not parse them.
app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
app.post<{ Body: Buffer }>("/webhooks", async ({ body, headers }, reply) => {
  try {
    const event = await verifyWebhook({ body, headers, secrets: process.env["COFFER_WEBHOOK_SECRET"] ?? "" });
    console.log(event.type);
    return await reply.code(204).send();
  } catch (error) {
    if (error instanceof WebhookVerificationError) return reply.code(400).send(error.reason);
    throw error; // not the request's fault: 500, and the delivery comes again
  }
});
await app.listen({ host: "127.0.0.1", port: Number(process.env["PORT"]) });
