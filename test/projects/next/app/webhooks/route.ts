import { isEvent, verifyWebhook, WebhookVerificationError } from "@coffer/sdk/webhooks";

/** Receives deliveries. Both secrets count while one is rotated: separate them by a comma. */
export async function POST(request: Request): Promise<Response> {
  const secrets = (process.env.COFFER_WEBHOOK_SECRET ?? "").split(",");
  try {
    // The raw text: request.json() would give what the signature does not cover.
    const event = await verifyWebhook({ body: await request.text(), headers: request.headers, secrets });
    if (isEvent(event, "file.uploaded")) console.log(event.data.object.id, event.data.object.size);
    return new Response(null, { status: 204 });
  } catch (error) {
    if (error instanceof WebhookVerificationError) return new Response(error.reason, { status: 400 });
    throw error;
  }
}
