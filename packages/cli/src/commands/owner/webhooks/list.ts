import { untrusted } from "@coffer/tasks";
import { command } from "../../../declarations.ts";
import { PAGE_FLAGS, pageListing, readPages } from "../../../list-pages.ts";
import { word } from "../cell-text.ts";

export default command({
  brief: "List webhooks",
  examples: [{ line: "coffer webhooks list", does: "with their last deliveries" }],
  flags: PAGE_FLAGS,
  isList: true,
  run: async (context, pageChoice) => {
    const client = await context.client();
    const page = await readPages(pageChoice, (query) => client.webhooks.list(query, { signal: context.signal }));
    return pageListing(context, page, {
      name: "webhooks",
      empty: "No webhooks. Make one: coffer webhooks create --url URL",
      columns: [
        { title: "id", of: ({ id }) => id },
        { title: "state", of: ({ active }) => (active ? "active" : "paused") },
        { title: "last", of: ({ lastDeliveryStatus }) => word(lastDeliveryStatus) },
        { title: "failures", of: ({ failureCount }) => failureCount, isNumber: true },
        { title: "events", of: ({ events }) => untrusted(events.join(" ")) },
        { title: "url", of: ({ url }) => untrusted(url) },
      ],
    });
  },
});
