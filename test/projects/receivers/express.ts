import { verifyWebhook, WebhookVerificationError } from "@coffer/sdk/webhooks";
import express from "express";

const app = express();
// express.raw, and no express.json() before it: the signature covers the bytes as they came.
app.post("/webhooks", express.raw({ type: "application/json" }), async ({ body, headers }, response) => {
  try {
    const event = await verifyWebhook({ body, headers, secrets: process.env["COFFER_WEBHOOK_SECRET"] ?? "" });
    console.log(event.type);
    response.status(204).end();
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    response.status(400).send(error.reason);
  }
});
app.listen(Number(process.env["PORT"]), "127.0.0.1");
