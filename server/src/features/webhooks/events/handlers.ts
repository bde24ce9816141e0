import type { api } from "@coffer/contract";
import type { GroupHandlers } from "../../../handler.ts";
import { type CatalogueEntry, renderCatalogue } from "./catalogue.ts";

export const webhookEventsHandlers = (): GroupHandlers<typeof api.webhookEvents> => ({
  list() {
    catalogue ??= renderCatalogue();
    return Promise.resolve({ events: catalogue });
  },
});

/** Made on first use: it depends on the contract alone. */
let catalogue: CatalogueEntry[] | null = null;
