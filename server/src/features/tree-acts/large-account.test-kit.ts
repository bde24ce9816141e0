/** TEST ONLY: an account with very many files, and a look at how long and for how many rows each transaction held SQLite's only writer. */
import { randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { fileRow, folderRow } from "../../../../test/kit/rows.ts";
import type { Principal } from "../../handler.ts";
import type { Database } from "../../ports/database.ts";

const AT_ONCE = 500;
const DAY = 24 * 60 * 60_000;

export interface LargeFolder {
  readonly vaultId: string;
  readonly folderId: string;
  readonly folders: number;
  readonly files: number;
}

/** A folder at the top of a vault: folders in it, two levels deep, with `perFolder` files each. */
export async function fillFolder(
  database: Database,
  { accountId }: Principal,
  {
    files,
    perFolder,
    ...more
  }: { readonly files: number; readonly perFolder: number; readonly name?: string; readonly vaultId?: string },
): Promise<LargeFolder> {
  const { build } = database;
  const account = await database.first(build.selectFrom("accounts").selectAll().where("id", "=", accountId));
  if (account === null) throw new Error("the account is not there");
  const place = { account_id: accountId, vault_id: more.vaultId ?? account.default_vault_id };
  const root = folderRow({ ...place, name: more.name ?? "large" });
  const folders = [root];
  const rows = [];
  for (let at = 0; at < files; at += 1) {
    if (at % perFolder === 0) {
      const parent = folders.length % 10 === 1 ? root : (folders.at(-1) ?? root);
      const below = parent === root || parent.depth >= 3 ? { parent_id: root.id, depth: 2 } : null;
      folders.push(
        folderRow({ ...place, name: `folder ${at}`, ...(below ?? { parent_id: parent.id, depth: parent.depth + 1 }) }),
      );
    }
    rows.push(
      fileRow({ ...place, folder_id: folders.at(-1)?.id ?? null, name: `file ${at}`, created_at: at, size: 10 }),
    );
  }
  for (const [table, all] of [
    ["folders", folders],
    ["files", rows],
  ] as const)
    for (let at = 0; at < all.length; at += AT_ONCE)
      await database.run(build.insertInto(table).values(all.slice(at, at + AT_ONCE)));
  const usage = { usage_files: account.usage_files + files, usage_bytes: account.usage_bytes + files * 10 };
  await database.run(build.updateTable("accounts").set(usage).where("id", "=", accountId));
  return { vaultId: place.vault_id, folderId: root.id, folders: folders.length, files };
}

/** That many versions and entries of before, of the files in turn: of 50 authors, each of a day of its own. */
export async function fillPast(
  database: Database,
  { vaultId, fileIds, each }: { readonly vaultId: string; readonly fileIds: readonly string[]; readonly each: number },
): Promise<void> {
  const { build } = database;
  const [file] = await database.all(
    build
      .selectFrom("files")
      .selectAll()
      .where("id", "=", fileIds[0] ?? ""),
  );
  if (file === undefined) throw new Error("the file is not there");
  for (const fileId of fileIds)
    for (let at = 0; at < each; at += AT_ONCE) {
      const numbers = Array.from({ length: Math.min(AT_ONCE, each - at) }, (_, index) => -1 - at - index);
      const past = (number: number) => ({
        vault_id: vaultId,
        number,
        shared_json: null,
        author: null,
        author_key: `author ${number % 50}`,
        created_at: file.created_at,
        replaced_at: file.created_at,
        expires_at: file.created_at + 30 * DAY,
      });
      await database.run(
        build.insertInto("file_versions").values(
          numbers.map((number) => ({
            ...past(number),
            file_id: fileId,
            version_id: randomUUID(),
            blob_key: randomUUID(),
            size: 1,
            charged: 1,
            sha256: file.sha256,
            content_type: file.content_type,
            how: "replace",
            budget_id: null,
          })),
        ),
      );
      await database.run(
        build.insertInto("item_entries").values(
          numbers.map((number) => ({
            ...past(number),
            item_id: fileId,
            name: `before ${number}`,
            folder_id: null,
            how: "rename",
          })),
        ),
      );
    }
  const more = fileIds.length * each;
  await database.run(
    build
      .updateTable("accounts")
      .set((row) => ({
        usage_bytes: row("usage_bytes", "+", more),
        usage_version_bytes: row("usage_version_bytes", "+", more),
      }))
      .where("id", "=", file.account_id),
  );
}

export interface Held {
  /** The longest time from the beginning of a transaction to its end, in milliseconds. */
  milliseconds: number;
  /** The most rows that one transaction changed, triggers and foreign keys included. */
  rows: number;
}

/** Watches all connections of the process until it is disposed of. */
export function watchWriter(): Held & Disposable {
  const held = { milliseconds: 0, rows: 0 };
  const exec = Reflect.get(DatabaseSync.prototype, "exec");
  const changes = (handle: DatabaseSync) => Number(handle.prepare("select total_changes() as n").get()?.["n"]);
  let began = { at: 0, rows: 0 };
  DatabaseSync.prototype.exec = function (this: DatabaseSync, text: string) {
    exec.call(this, text);
    if (text === "BEGIN IMMEDIATE") began = { at: performance.now(), rows: changes(this) };
    if (text !== "COMMIT") return;
    held.milliseconds = Math.max(held.milliseconds, performance.now() - began.at);
    held.rows = Math.max(held.rows, changes(this) - began.rows);
  };
  return Object.assign(held, {
    [Symbol.dispose]() {
      DatabaseSync.prototype.exec = exec;
    },
  });
}
