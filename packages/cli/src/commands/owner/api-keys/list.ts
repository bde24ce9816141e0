import { shortIds, untrusted } from "@coffer/tasks";
import { command } from "../../../declarations.ts";
import { PAGE_FLAGS, pageListing, readPages } from "../../../list-pages.ts";
import { timeText } from "../../../terminal/visible.ts";
import { endText, scopesText, vaultsText, word } from "../cell-text.ts";

export default command({
  brief: "List API keys",
  description: "Revoked and expired ones too, newest first. Never the keys themselves.",
  examples: [{ line: "coffer api-keys list", does: "rights, ends, and when each was last used" }],
  flags: PAGE_FLAGS,
  isList: true,
  run: async (context, pageChoice) => {
    const client = await context.client();
    const page = await readPages(pageChoice, (query) => client.apiKeys.list(query, { signal: context.signal }));
    const short = shortIds(page.items.flatMap(({ vaultIds }) => vaultIds ?? []));
    return pageListing(context, page, {
      name: "apiKeys",
      empty: "No API keys.",
      columns: [
        { title: "id", of: ({ id }) => id },
        { title: "key", of: ({ prefix, last4 }) => word(`${prefix}…${last4}`) },
        { title: "level", of: ({ accessLevel }) => word(accessLevel) },
        { title: "ends", of: ({ revokedAt, expiresAt }) => (revokedAt === null ? endText(expiresAt) : "revoked") },
        { title: "last used", of: ({ lastUsedAt }) => timeText(lastUsedAt) },
        { title: "scopes", of: ({ scopes }) => scopesText(scopes) },
        { title: "vaults", of: ({ vaultIds }) => vaultsText(vaultIds, short) },
        { title: "name", of: ({ name }) => untrusted(name) },
      ],
    });
  },
});
