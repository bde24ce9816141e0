/** Files and folders as lists show them. */
import { shortIds, untrusted } from "@coffer/tasks";
import type { File, Folder, Vault } from "@coffer/sdk";
import type { Context } from "../../context.ts";
import { exitOfClosedItems, type ExitCode } from "../../exit-codes.ts";
import { textOfCode } from "../../failure-texts.ts";
import type { Column } from "../../result.ts";
import { toggle } from "../../declarations.ts";
import { sizeText, timeText } from "../../terminal/visible.ts";

/** A file or a folder, as `--json` prints it. */
export type Row = ({ readonly kind: "file" } & File) | ({ readonly kind: "folder" } & Folder);

/** A vault in the trash, among what lies in the trash of others. */
export type TrashedVaultRow = { readonly kind: "vault" } & Vault;

export const fileRow = (file: File): Row => ({ kind: "file", ...plain(file) });
export const folderRow = (folder: Folder): Row => ({ kind: "folder", ...plain(folder) });

/** Without the signed bytes of a shared vault, which say nothing to a reader. */
export function plain<Item extends object>(item: Item): Item {
  const { shared: _shared, ...facts } = item as Item & { readonly shared?: unknown };
  return facts as unknown as Item;
}

/** This client can read neither name nor size of it. */
const isClosed = (item: Named): boolean => item.unreadable !== undefined || item.name === "";

const whyClosed = (item: Named): string => item.unreadable ?? "shared_vault";

type Named = Pick<File | Folder, "name" | "unreadable">;

/** What a name is of is seen at its end: `A/` is a folder, and `A:` a vault. */
const END_OF_NAME = { file: "", folder: "/", vault: ":" } as const;

/** Says why items are closed, and what to do about it. Returns the exit code of their list. */
export function reportClosed({ printNote }: Pick<Context, "printNote">, items: readonly (File | Folder)[]): ExitCode {
  const closed = items.filter(isClosed);
  const [first] = closed;
  if (first === undefined) return exitOfClosedItems(0, items.length, null);
  const { exit, message, nextStep } = textOfCode(whyClosed(first));
  printNote(`${String(closed.length)} of ${String(items.length)} are closed: ${message}`);
  printNote(`next: ${nextStep}`);
  return exitOfClosedItems(closed.length, items.length, exit);
}

export const HUMAN_READABLE = toggle("Sizes as people read them, such as 1.2 MiB; --json keeps bytes");

export const sizeCell = (bytes: number, isHuman: boolean): string | number => (isHuman ? sizeText(bytes) : bytes);

export function itemColumns(
  rows: readonly (Row | TrashedVaultRow)[],
  more: readonly Column<Row | TrashedVaultRow>[] = [],
  isHuman = false,
): readonly Column<Row | TrashedVaultRow>[] {
  const short = shortIds(rows.map(({ id }) => id));
  return [
    { title: "id", of: ({ id }) => short(id) },
    {
      title: "bytes",
      of: (row) => (row.kind === "file" && !isClosed(row) ? sizeCell(row.size, isHuman) : null),
      isNumber: true,
    },
    { title: "modified", of: ({ updatedAt }) => timeText(updatedAt) },
    ...more,
    {
      title: "name",
      of: (row) => (isClosed(row) ? `(closed: ${whyClosed(row)})` : untrusted(`${row.name}${END_OF_NAME[row.kind]}`)),
    },
  ];
}
