import { findWebhook } from "@coffer/tasks";
import { command } from "../../../declarations.ts";
import { done } from "../../../result.ts";
import { timeText } from "../../../terminal/visible.ts";
import { deliverSecret, TO_FILE } from "../secret-file.ts";
import { WEBHOOK } from "./webhook-lines.ts";

export default command({
  brief: "Replace the secret of a webhook",
  description: "The old one signs beside the new one for a day, so receivers have time to change.",
  examples: [{ line: "coffer webhooks rotate-secret 5f0c2a1e --to-file hook.secret", does: "asks first" }],
  flags: TO_FILE,
  args: [WEBHOOK] as const,
  run: async (context, { toFile }, [idText]) => {
    const { id } = await findWebhook(context.task, idText);
    await context.confirm(`Replace the secret of the webhook ${id}? The old one ends in a day.`);
    const client = await context.client();
    const rotate = () => client.webhooks.rotateSecret(id, { signal: context.signal });
    const { created, file } = await deliverSecret(context, toFile, rotate, ({ secret }) => secret);
    const { secret, previousSecretExpiresAt } = created;
    const json = { webhookId: id, secret: file === null ? secret : null, file, previousSecretExpiresAt };
    const lines = [
      file === null ? `The new secret, which is not shown again: ${secret}` : `The new secret is in ${file}`,
      `The old one signs beside it until ${timeText(previousSecretExpiresAt)}`,
    ];
    return done(json, lines, { reveals: file === null ? [secret] : [] });
  },
});
