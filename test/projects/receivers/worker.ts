import { verifyWebhook, WebhookVerificationError } from "@coffer/sdk/webhooks";

export default {
  async fetch(request: Request, env: { readonly COFFER_WEBHOOK_SECRET: string }): Promise<Response> {
    const body = await request.arrayBuffer(); // raw: request.json() would give what the signature does not cover
    try {
      const event = await verifyWebhook({ body, headers: request.headers, secrets: env.COFFER_WEBHOOK_SECRET });
      console.log(event.type);
      return new Response(null, { status: 204 });
    } catch (error) {
      if (error instanceof WebhookVerificationError) return new Response(error.reason, { status: 400 });
      throw error;
    }
  },
};
