import { serve } from "@hono/node-server";
import { verifyWebhook, WebhookVerificationError } from "@coffer/sdk/webhooks";
import { Hono } from "hono";

const app = new Hono();
app.post("/webhooks", async (context) => {
  const { headers } = context.req.raw;
  const body = await context.req.text(); // raw: context.req.json() would give what the signature does not cover
  try {
    const event = await verifyWebhook({ body, headers, secrets: process.env["COFFER_WEBHOOK_SECRET"] ?? "" });
    console.log(event.type);
    return context.body(null, 204);
  } catch (error) {
    if (error instanceof WebhookVerificationError) return context.text(error.reason, 400);
    throw error;
  }
});
serve({ fetch: app.fetch, hostname: "127.0.0.1", port: Number(process.env["PORT"]) });
