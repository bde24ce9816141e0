import type { AuditEvent } from "@coffer/sdk";
import { readAudit, untrusted } from "@coffer/tasks";
import { command, text } from "../../../declarations.ts";
import { PAGE_FLAGS, pageListing } from "../../../list-pages.ts";
import { timeText } from "../../../terminal/visible.ts";
import { boundOf, LOOKS_BACK } from "../../../times.ts";
import { word } from "../cell-text.ts";

export default command({
  brief: "List the acts in the account",
  description: `Each with its actor, newest first. coffer audit verify shows whether an entry was altered. ${LOOKS_BACK}`,
  examples: [
    { line: "coffer audit list --since 2h", does: "the last two hours" },
    { line: "coffer audit list --by 5f0c2a1e --action file", does: "what one key did with files" },
  ],
  flags: {
    since: text("Since this time", { placeholder: "TIME" }),
    by: text("By this actor: id of a key, 8 digits of it, or a chain address", { placeholder: "ACTOR" }),
    action: text("Only this action, such as file.uploaded, or this group, such as file"),
    ...PAGE_FLAGS,
  },
  isList: true,
  run: async (context, { since, by, action, limit = 100, cursor, all }) => {
    const { events, nextCursor } = await readAudit(context.task, {
      since: since === undefined ? null : boundOf(context, "--since", since),
      by: by ?? null,
      ...(action === undefined ? {} : { action }),
      limit: all ? Number.MAX_SAFE_INTEGER : limit,
      cursor: cursor ?? null,
      skip: 0,
      mostPages: Number.MAX_SAFE_INTEGER,
    });
    return pageListing(
      context,
      { items: events, nextCursor },
      {
        name: "events",
        empty: "No entries.",
        columns: [
          { title: "no", of: ({ sequence }) => sequence, isNumber: true },
          { title: "time", of: ({ occurredAt }) => timeText(occurredAt) },
          { title: "action", of: (event) => word(event.action) },
          { title: "by", of: actorText },
          { title: "chain address", of: ({ actor }) => actor.chainAddress },
          { title: "about", of: ({ targets }) => untrusted(targets.map(({ type, id }) => `${type} ${id}`).join(", ")) },
        ],
      },
    );
  },
});

const actorText = ({ actor }: AuditEvent): string =>
  `${actor.type}${actor.id === null ? "" : ` ${actor.id.slice(0, 8)}`}`;
