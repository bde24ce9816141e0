import { untrusted } from "@coffer/tasks";
import type { Author, File, Folder } from "@coffer/sdk";
import { argument, command } from "../../declarations.ts";
import { usage } from "../../failure.ts";
import { done, type Printable } from "../../result.ts";
import { sizeText, timeText } from "../../terminal/visible.ts";
import { fileRow, folderRow, reportClosed } from "./item-rows.ts";
import { VAULT, targetAt } from "./vault-paths.ts";

export default command({
  brief: "Show the facts of a file or a folder",
  examples: [{ line: 'coffer stat "Team:2027/report.pdf"', does: "id, size, digest, author, times" }],
  flags: { vault: VAULT },
  args: [argument("file", "VAULT:PATH or an id")] as const,
  run: async (context, { vault }, [itemText]) => {
    const { item } = await targetAt(context.task, itemText, vault);
    if (item === null) throw usage("This is the top of a vault", "coffer vaults get VAULT");
    const exit = reportClosed(context, [item.kind === "file" ? item.file : item.folder]);
    return item.kind === "file"
      ? done({ item: fileRow(item.file) }, linesOf(fileFacts(item.file)), { exit })
      : done({ item: folderRow(item.folder) }, linesOf(folderFacts(item.folder)), { exit });
  },
});

type Fact = readonly [title: string, value: Printable];

const linesOf = (facts: readonly Fact[]): Printable[] =>
  facts.flatMap(([title, value]) =>
    value === null || value === undefined
      ? []
      : [untrusted(`${title.padEnd(10)}${typeof value === "object" ? value.visible() : String(value)}`)],
  );

function fileFacts(file: File): Fact[] {
  const digest = file.encrypted ? "stored sha" : "sha256";
  return [
    ["name", untrusted(file.name)],
    ["id", file.id],
    ["bytes", `${String(file.size)} (${sizeText(file.size)})`],
    ["type", untrusted(file.contentType)],
    [digest.padEnd(11), file.sha256],
    ["version", file.versionId],
    ["vault", file.vaultId],
    ["folder", file.folderId],
    ...times(file),
    ["closed", file.unreadable],
  ];
}

const folderFacts = (folder: Folder): Fact[] => [
  ["name", untrusted(`${folder.name}/`)],
  ["id", folder.id],
  ["vault", folder.vaultId],
  ["folder", folder.parentId],
  ...times(folder),
  ["closed", folder.unreadable],
];

const times = ({ createdAt, createdBy, trashedAt, updatedAt, updatedBy }: File | Folder): Fact[] => [
  ["created", timeText(createdAt)],
  ["by", authorText(createdBy)],
  ["changed", timeText(updatedAt)],
  ["by", authorText(updatedBy)],
  ["trashed", trashedAt === null ? null : timeText(trashedAt)],
];

/** `verified`: this machine checked the signature of that address. Any other author is the service's word. */
export function authorText(author: Author | null): Printable {
  if (author === null) return null;
  const { chainAddress, id, kind, name, verified } = author;
  if (verified === true && chainAddress !== null) return `${chainAddress} (verified)`;
  return untrusted(name ?? id ?? chainAddress ?? kind);
}
