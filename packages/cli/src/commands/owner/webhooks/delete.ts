import { findWebhook, untrusted } from "@coffer/tasks";
import { command } from "../../../declarations.ts";
import { done } from "../../../result.ts";
import { WEBHOOK } from "./webhook-lines.ts";

export default command({
  brief: "Delete a webhook with its deliveries",
  examples: [{ line: "coffer webhooks delete 5f0c2a1e", does: "asks first" }],
  args: [WEBHOOK] as const,
  run: async (context, _flags, [idText]) => {
    const { id, url } = await findWebhook(context.task, idText);
    await context.confirm(`Delete the webhook ${id} (${untrusted(url).visible()}) and its deliveries for good?`);
    await (await context.client()).webhooks.delete(id, { signal: context.signal });
    return done({ webhookId: id }, [`Deleted the webhook ${id}`]);
  },
});
