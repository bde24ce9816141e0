import { command, requiredText, text, texts } from "../../../declarations.ts";
import { done } from "../../../result.ts";
import { deliverSecret, TO_FILE } from "../secret-file.ts";
import { parseEvents } from "./events-flag.ts";
import { webhookLines } from "./webhook-lines.ts";

export default command({
  brief: "Create a webhook",
  description: "The account's events go to the address from then on. The secret, which proves them, is shown once.",
  examples: [
    {
      line: "coffer webhooks create --url https://example.com/hook --events file.uploaded,vault.member_removed",
      does: "prints the secret",
    },
    { line: "coffer webhooks create --url https://example.com/hook --to-file hook.secret", does: "every event" },
  ],
  flags: {
    url: requiredText("Address of the receiver"),
    events: texts("Kinds of events, with commas; all without it", { placeholder: "KINDS" }),
    description: text("Note about it"),
    ...TO_FILE,
  },
  run: async (context, { url, events, description, toFile }) => {
    const request = {
      url,
      events: parseEvents(events ?? ["*"]),
      ...(description === undefined ? {} : { description }),
    };
    const client = await context.client();
    const create = () => client.webhooks.create(request, { signal: context.signal });
    const { created, file } = await deliverSecret(context, toFile, create, ({ secret }) => secret);
    const { webhook, secret } = created;
    const lines = [
      ...webhookLines(webhook),
      file === null ? `Its secret, which is not shown again: ${secret}` : `Its secret is in ${file}`,
      `Try it: coffer webhooks test ${webhook.id}`,
    ];
    return done({ webhook, secret: file === null ? secret : null, file }, lines, {
      reveals: file === null ? [secret] : [],
    });
  },
});
