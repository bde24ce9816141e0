import { findWebhook, untrusted } from "@coffer/tasks";
import type { Context } from "../../../context.ts";
import { choice, command, optionalArgument } from "../../../declarations.ts";
import { PAGE_FLAGS, pageListing, readPages } from "../../../list-pages.ts";
import { listing, type Listing } from "../../../result.ts";
import { timeText } from "../../../terminal/visible.ts";
import { word } from "../cell-text.ts";
import { DELIVERY_COLUMNS, deliveryLines, WEBHOOK } from "./webhook-lines.ts";

export default command({
  brief: "List what was sent to a webhook",
  description: "Newest first. With a delivery's id: each of its attempts, and what the receiver answered.",
  examples: [
    { line: "coffer webhooks deliveries 5f0c2a1e --status failed", does: "those that the receiver did not take" },
    {
      line: "coffer webhooks deliveries 5f0c2a1e 5f0c2a1e-7b64-4c1d-9a51-0c7f3d2b1a90",
      does: "one, with its attempts",
    },
  ],
  flags: { status: choice("Only with this status", ["pending", "delivering", "success", "failed"]), ...PAGE_FLAGS },
  args: [WEBHOOK, optionalArgument("DELIVERY", "The whole id of a delivery")] as const,
  isList: true,
  run: async (context, { status, ...pageChoice }, [idText, deliveryId]) => {
    const { id } = await findWebhook(context.task, idText);
    if (deliveryId !== undefined) return await attemptsOf(context, id, deliveryId.toLowerCase());
    const client = await context.client();
    const filter = status === undefined ? {} : { status };
    const page = await readPages(pageChoice, (query) =>
      client.webhooks.deliveries(id, { ...query, ...filter }, { signal: context.signal }),
    );
    return pageListing(context, page, {
      name: "deliveries",
      otherFields: { webhookId: id },
      empty: "No deliveries.",
      columns: DELIVERY_COLUMNS,
    });
  },
});

async function attemptsOf({ client, signal }: Context, webhookId: string, deliveryId: string): Promise<Listing> {
  const { delivery, attempts } = await (await client()).webhooks.delivery(webhookId, deliveryId, { signal });
  return listing({
    name: "attempts",
    items: attempts,
    otherFields: { webhookId, delivery },
    empty: "No attempts yet.",
    after: ["", ...deliveryLines(delivery)],
    columns: [
      { title: "no", of: ({ number }) => number, isNumber: true },
      { title: "at", of: ({ at }) => timeText(at) },
      { title: "why", of: ({ trigger }) => word(trigger) },
      { title: "http", of: ({ httpStatus }) => httpStatus, isNumber: true },
      { title: "ms", of: ({ duration }) => duration, isNumber: true },
      { title: "error", of: ({ error }) => untrusted(error) },
      { title: "answer", of: ({ responseBody }) => untrusted(responseBody.slice(0, 200)) },
    ],
  });
}
