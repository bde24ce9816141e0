import { findWebhook } from "@coffer/tasks";
import { command } from "../../../declarations.ts";
import { done } from "../../../result.ts";
import { WEBHOOK, webhookLines } from "./webhook-lines.ts";

export default command({
  brief: "Show a webhook",
  examples: [{ line: "coffer webhooks get 5f0c2a1e", does: "by the beginning of its id" }],
  args: [WEBHOOK] as const,
  run: async ({ task }, _flags, [text]) => {
    const webhook = await findWebhook(task, text);
    return done({ webhook }, webhookLines(webhook));
  },
});
