import { findWebhook } from "@coffer/tasks";
import { command, optionalArgument, text } from "../../../declarations.ts";
import { usage } from "../../../failure.ts";
import { done } from "../../../result.ts";
import { boundOf, LOOKS_BACK } from "../../../times.ts";
import { deliveryLines, WEBHOOK } from "./webhook-lines.ts";

export default command({
  brief: "Send a delivery once more, or all failed ones of a time",
  description: LOOKS_BACK,
  examples: [
    { line: "coffer webhooks retry 5f0c2a1e 5f0c2a1e-7b64-4c1d-9a51-0c7f3d2b1a90", does: "one delivery" },
    { line: "coffer webhooks retry 5f0c2a1e --since 3h", does: "what failed in the last three hours" },
  ],
  flags: {
    since: text("Failed deliveries since this time", { placeholder: "TIME" }),
    until: text("Up to this time; now without it", { placeholder: "TIME" }),
  },
  args: [WEBHOOK, optionalArgument("DELIVERY", "The whole id of a delivery")] as const,
  run: async (context, { since, until }, [idText, deliveryId]) => {
    const { signal, task } = context;
    if ((deliveryId === undefined) === (since === undefined))
      throw usage("Name a delivery or a time, one of them", "coffer webhooks deliveries WEBHOOK lists them");
    const { id } = await findWebhook(task, idText);
    const client = await context.client();
    if (deliveryId !== undefined) {
      const delivery = await client.webhooks.redeliver(id, deliveryId.toLowerCase(), { signal });
      return done({ delivery }, ["It is sent once more:", ...deliveryLines(delivery)]);
    }
    const range = {
      since: boundOf(context, "--since", since ?? ""),
      ...(until === undefined ? {} : { until: boundOf(context, "--until", until) }),
    };
    const count = await client.webhooks.recover(id, range, { signal });
    return done({ webhookId: id, count }, [`Sent once more: ${String(count)} deliveries`]);
  },
});
