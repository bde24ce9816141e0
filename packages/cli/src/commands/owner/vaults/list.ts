import { untrusted } from "@coffer/tasks";
import { choice, command, toggle } from "../../../declarations.ts";
import { PAGE_FLAGS, pageListing, readPages } from "../../../list-pages.ts";
import { timeText } from "../../../terminal/visible.ts";
import { word } from "../cell-text.ts";

export default command({
  brief: "List vaults",
  description: "Yours, newest first. --shared-with-me lists vaults of other accounts that you are a member of.",
  examples: [
    { line: "coffer vaults list", does: "your account's vaults" },
    { line: "coffer vaults list --shared-with-me", does: "those of other accounts" },
    { line: "coffer vaults list --trashed", does: "what coffer vaults restore brings back" },
  ],
  flags: {
    type: choice("Only of this type", ["public", "shared"]),
    sharedWithMe: toggle("Vaults of other accounts that your chain address is a member of"),
    trashed: toggle("Vaults in the trash"),
    ...PAGE_FLAGS,
  },
  isList: true,
  run: async (context, { type, sharedWithMe, trashed, ...pageChoice }) => {
    const client = await context.client();
    const { signal } = context;
    const filter = { ...(type === undefined ? {} : { type }), ...(sharedWithMe ? { shared: true } : {}) };
    const page = await readPages(pageChoice, (query) =>
      trashed ? client.trash.vaults(query, { signal }) : client.vaults.list({ ...query, ...filter }, { signal }),
    );
    return pageListing(context, page, {
      name: "vaults",
      empty: trashed ? "No vaults in the trash." : "No vaults. Make one: coffer vaults create NAME",
      columns: [
        { title: "id", of: ({ id }) => id },
        { title: "type", of: (vault) => word(vault.type) },
        { title: "role", of: ({ role }) => word(role) },
        { title: "created", of: ({ createdAt }) => timeText(createdAt) },
        { title: "trashed", of: ({ trashedAt }) => timeText(trashedAt) },
        { title: "name", of: ({ name }) => untrusted(name) },
      ],
    });
  },
});
