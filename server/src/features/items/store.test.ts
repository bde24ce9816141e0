/** What was decided from an earlier read is written only while it holds: another may have written in between. */
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import { fileRow, folderRow, insertAccount } from "../../../../test/kit/rows.ts";
import type { Database } from "../../ports/database.ts";
import type { FileRow, FolderRow } from "../../ports/tables.ts";
import { ofEachTest } from "../../each.test-kit.ts";
import { openTestDatabase } from "../../storage.test-kit.ts";
import { findItem } from "../reach/store.ts";
import { deleteItem, updateItem } from "./store.ts";

interface Rows extends AsyncDisposable {
  readonly database: Database;
  readonly file: FileRow;
  readonly folder: FolderRow;
}

const rows = ofEachTest(async (): Promise<Rows> => {
  const database = await openTestDatabase(makeDirectory());
  const { accountId, vaultId } = await insertAccount(database);
  const place = { account_id: accountId, vault_id: vaultId };
  const [file, folder] = [fileRow(place), folderRow(place)];
  await database.run(database.build.insertInto("files").values(file));
  await database.run(database.build.insertInto("folders").values(folder));
  return { database, file, folder, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
});

const inTrash = { trashed_at: 5, revision: 2 };
const current = (kind: "file" | "folder") =>
  findItem(rows.database, kind, { id: rows[kind].id, accountId: rows[kind].account_id });

describe("an item that has changed since it was read", () => {
  it("keeps its new content when it is renamed, and its new name when it is replaced", async () => {
    const replaced = { version_id: randomUUID(), blob_key: randomUUID(), size: 11 };
    expect(await updateItem(rows.database, "file", rows.file, replaced)).toBe(true);
    expect(await updateItem(rows.database, "file", rows.file, { name: "late", revision: 2 })).toBe(false);
    const read = { ...rows.file, ...replaced };
    expect(await updateItem(rows.database, "file", read, { name: "renamed", revision: 2 })).toBe(true);
    expect(await updateItem(rows.database, "file", read, { blob_key: randomUUID() })).toBe(false);
    expect(await current("file")).toMatchObject({ ...read, name: "renamed", revision: 2 });
  });

  it.each(["file", "folder"] as const)("stays where it is: %s", async (kind) => {
    const { database, [kind]: old } = rows;
    expect(await updateItem(database, kind, old, { name: "renamed", revision: 2 })).toBe(true);
    expect(await updateItem(database, kind, old, { trashed_at: 6, revision: 2 })).toBe(false);
    expect(await deleteItem(database, kind, old)).toBe(false);
    expect(await current(kind)).toMatchObject({ ...old, name: "renamed", revision: 2 });
  });

  it.each(["file", "folder"] as const)("is not deleted once it came back from the trash: %s", async (kind) => {
    const { database, [kind]: old } = rows;
    expect(await updateItem(database, kind, old, inTrash)).toBe(true);
    const listed = { ...old, ...inTrash };
    expect(await updateItem(database, kind, listed, { trashed_at: null, revision: 3 })).toBe(true);
    expect(await deleteItem(database, kind, listed)).toBe(false);
    expect(await updateItem(database, kind, { ...old, revision: 3 }, { ...inTrash, revision: 4 })).toBe(true);
    expect(await deleteItem(database, kind, listed)).toBe(false);
    expect(await deleteItem(database, kind, { ...listed, revision: 4 })).toBe(true);
    expect(await current(kind)).toBeNull();
  });

  it("is not changed under another account, where its vault has gone", async () => {
    const { accountId } = await insertAccount(rows.database);
    const { file, database } = rows;
    await database.run(database.build.updateTable("files").set({ account_id: accountId }).where("id", "=", file.id));
    expect(await updateItem(database, "file", file, { name: "late", revision: 2 })).toBe(false);
    expect(await deleteItem(database, "file", file)).toBe(false);
  });
});
