import { findWebhook } from "@coffer/tasks";
import { command, text, texts, toggle } from "../../../declarations.ts";
import { usage } from "../../../failure.ts";
import { done } from "../../../result.ts";
import { parseEvents } from "./events-flag.ts";
import { WEBHOOK, webhookLines } from "./webhook-lines.ts";

export default command({
  brief: "Change a webhook",
  description: "A paused one keeps its events, and sends them when it is active again.",
  examples: [
    { line: "coffer webhooks update 5f0c2a1e --paused", does: "keeps events for later" },
    { line: "coffer webhooks update 5f0c2a1e --events file.uploaded,file.updated", does: "other events" },
  ],
  flags: {
    url: text("New address of the receiver"),
    events: texts("New list of events, with commas; '*' is every kind", { placeholder: "KINDS" }),
    description: text("New note about it"),
    active: toggle("Send what waits, and what comes"),
    paused: toggle("Keep events for later"),
  },
  args: [WEBHOOK] as const,
  run: async (context, { url, events, description, active, paused }, [idText]) => {
    if (active && paused) throw usage("--active and --paused contradict each other", "leave one out");
    const changes = {
      ...(url === undefined ? {} : { url }),
      ...(events === undefined ? {} : { events: parseEvents(events) }),
      ...(description === undefined ? {} : { description }),
      ...(active || paused ? { active } : {}),
    };
    if (Object.keys(changes).length === 0) throw usage("Nothing is to be changed", "coffer webhooks update --help");
    const { id } = await findWebhook(context.task, idText);
    const client = await context.client();
    const webhook = await client.webhooks.update(id, changes, { signal: context.signal });
    return done({ webhook }, webhookLines(webhook));
  },
});
