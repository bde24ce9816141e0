import { untrusted } from "@coffer/tasks";
import type { FileVersion } from "@coffer/sdk";
import { argument, command } from "../../../declarations.ts";
import { listing } from "../../../result.ts";
import { timeText } from "../../../terminal/visible.ts";
import { plain } from "../item-rows.ts";
import { fileAt, VAULT } from "../vault-paths.ts";
import { authorText } from "../stat.ts";

export default command({
  brief: "List the versions of a file, newest first",
  examples: [{ line: 'coffer versions list "Team:report.pdf"', does: "number, id, size, author, time" }],
  flags: { vault: VAULT },
  args: [argument("file", "VAULT:PATH or an id")] as const,
  isList: true,
  run: async ({ client, signal, task }, { vault }, [fileText]) => {
    const file = await fileAt(task, fileText, vault);
    const versions: FileVersion[] = [];
    for await (const version of (await client()).files.versions(file.id, {}, { signal })) versions.push(plain(version));
    return listing({
      name: "versions",
      items: versions,
      otherFields: { fileId: file.id },
      columns: [
        { title: "version", of: ({ number }) => number, isNumber: true },
        { title: "id", of: ({ versionId }) => versionId },
        { title: "bytes", of: ({ size, unreadable }) => (unreadable === undefined ? size : null), isNumber: true },
        { title: "made", of: ({ createdAt }) => timeText(createdAt) },
        { title: "how", of: ({ how }) => untrusted(how) },
        {
          title: "author",
          of: ({ author, unreadable }) => (unreadable === undefined ? authorText(author) : `(closed: ${unreadable})`),
        },
        { title: "kept until", of: ({ expiresAt }) => (expiresAt === null ? "" : timeText(expiresAt)) },
      ],
      empty: "No versions.",
    });
  },
});
