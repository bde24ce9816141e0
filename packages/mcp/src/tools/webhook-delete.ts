import { api } from "@coffer/contract";
import { findWebhook } from "@coffer/tasks";
import * as z from "zod/mini";
import { TEXT } from "../schema.ts";
import { defineTool } from "../tool.ts";
import { webhookRef } from "./webhook-ref.ts";

export const webhookDelete = defineTool({
  name: "webhook_delete",
  profile: "owner",
  title: "Delete a webhook",
  description: "Deletes an endpoint with its deliveries, for good. The user has to agree first.",
  endpoints: [api.webhooks.delete],
  input: { webhookId: webhookRef, confirm: z.optional(z.string().check(z.maxLength(200))) },
  describe: { webhookId: "id (8 digits do)", confirm: "token the user agreed to; default: none" },
  output: { webhookId: TEXT },
  run: async ({ webhookId, confirm }, call) => {
    const { id, updatedAt } = await findWebhook(call, webhookId);
    await call.confirm({
      preview: `Delete the webhook ${id} and its deliveries for good`,
      state: updatedAt,
      stateNow: async () => (await findWebhook(call, id)).updatedAt,
      token: confirm,
      isFinal: true,
    });
    await (await call.client()).webhooks.delete(id, { signal: call.signal });
    return { summary: "The webhook is gone.", facts: { webhookId: id } };
  },
});
