import { api } from "@coffer/contract";
import { findWebhook, untrusted } from "@coffer/tasks";
import * as z from "zod/mini";
import { COUNT, TEXT } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { word } from "../fact-values.ts";
import { webhookRef } from "./webhook-ref.ts";

export const webhookSend = defineTool({
  name: "webhook_send",
  profile: "owner",
  title: "Test or redeliver",
  description: "Sends a test to an endpoint and waits for its answer, or sends one delivery once more.",
  endpoints: [api.webhooks.test, api.webhooks.redeliver],
  hints: { openWorldHint: true },
  input: { webhookId: webhookRef, deliveryId: z.optional(api.webhooks.redeliver.params.shape.deliveryId) },
  describe: { webhookId: "id (8 digits do)", deliveryId: "from webhook_list; default: a test" },
  output: { deliveryId: TEXT, status: TEXT, httpStatus: COUNT, attempts: COUNT, lastError: TEXT },
  run: async ({ webhookId, deliveryId }, call) => {
    const { id } = await findWebhook(call, webhookId);
    const { webhooks } = await call.client();
    const delivery =
      deliveryId === undefined
        ? await webhooks.test(id, { signal: call.signal })
        : await webhooks.redeliver(id, deliveryId, { signal: call.signal });
    return {
      summary: deliveryId === undefined ? "The test was sent." : "The delivery was queued again.",
      facts: {
        deliveryId: delivery.id,
        status: word(delivery.status),
        httpStatus: delivery.httpStatus,
        attempts: delivery.attempts,
        lastError: delivery.lastError === "" ? null : untrusted(delivery.lastError),
      },
    };
  },
});
