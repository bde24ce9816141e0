import { shortIds, untrusted } from "@coffer/tasks";
import { command } from "../../../declarations.ts";
import { PAGE_FLAGS, pageListing, readPages } from "../../../list-pages.ts";
import { timeText } from "../../../terminal/visible.ts";
import { scopesText, vaultsText, word } from "../cell-text.ts";

export default command({
  brief: "List invites",
  description: "With their state: created, used, revoked or expired. Codes are never shown again.",
  examples: [{ line: "coffer invites list", does: "newest first" }],
  flags: PAGE_FLAGS,
  isList: true,
  run: async (context, pageChoice) => {
    const client = await context.client();
    const page = await readPages(pageChoice, (query) => client.invites.list(query, { signal: context.signal }));
    const short = shortIds(page.items.flatMap(({ vaultIds }) => vaultIds ?? []));
    return pageListing(context, page, {
      name: "invites",
      empty: "No invites. Make one: coffer invites create --name NAME",
      columns: [
        { title: "id", of: ({ id }) => id },
        { title: "state", of: ({ status }) => word(status) },
        { title: "expires", of: ({ expiresAt }) => timeText(expiresAt) },
        { title: "access until", of: ({ accessUntil }) => timeText(accessUntil) },
        { title: "scopes", of: ({ scopes }) => scopesText(scopes) },
        { title: "vaults", of: ({ vaultIds }) => vaultsText(vaultIds, short) },
        { title: "key", of: ({ keyId }) => keyId },
        { title: "name", of: ({ name }) => untrusted(name) },
      ],
    });
  },
});
