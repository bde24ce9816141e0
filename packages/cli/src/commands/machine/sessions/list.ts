import { untrusted } from "@coffer/tasks";
import { command, count, text } from "../../../declarations.ts";
import { listing } from "../../../result.ts";
import { timeText } from "../../../terminal/visible.ts";

export default command({
  brief: "List the sessions of the account",
  examples: [{ line: "coffer sessions list", does: "this one has a star" }],
  flags: { limit: count("At most so many; 100 without it"), cursor: text("Go on where the list before ended") },
  isList: true,
  run: async ({ client, signal }, { limit, cursor }) => {
    const { sessions, nextCursor } = await (await client()).sessions.list({ limit, cursor }, { signal });
    return listing({
      name: "sessions",
      items: sessions,
      otherFields: { nextCursor },
      empty: "There are no sessions.",
      columns: [
        { title: "", of: ({ current }) => (current ? "*" : "") },
        { title: "id", of: ({ id }) => id },
        { title: "by", of: ({ method }) => method },
        { title: "last used", of: ({ lastUsedAt }) => timeText(lastUsedAt) },
        { title: "ends", of: ({ expiresAt }) => timeText(expiresAt) },
        { title: "client", of: ({ userAgent }) => (userAgent === null ? null : untrusted(userAgent)) },
      ],
      after:
        nextCursor === null
          ? []
          : [
              `More: coffer sessions list --cursor ${nextCursor}${limit === undefined ? "" : ` --limit ${String(limit)}`}`,
            ],
    });
  },
});
