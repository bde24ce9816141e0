import { findWebhook } from "@coffer/tasks";
import { command } from "../../../declarations.ts";
import { exitOfVerdict } from "../../../exit-codes.ts";
import { done } from "../../../result.ts";
import { deliveryLines, WEBHOOK } from "./webhook-lines.ts";

export default command({
  brief: "Send a test to a webhook and wait for its answer",
  description: "It exits with 1 when the receiver did not take it.",
  examples: [{ line: "coffer webhooks test 5f0c2a1e", does: "at most 15 seconds" }],
  args: [WEBHOOK] as const,
  run: async (context, _flags, [idText]) => {
    const { id } = await findWebhook(context.task, idText);
    const delivery = await (await context.client()).webhooks.test(id, { signal: context.signal });
    return done({ delivery }, deliveryLines(delivery), {
      exit: exitOfVerdict(delivery.status === "success"),
    });
  },
});
