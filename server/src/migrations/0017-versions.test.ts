import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { openSqlite } from "../drivers/database/sqlite.ts";
import { findKeptVersion } from "../features/files/kept-versions-store.ts";
import { migrate, MIGRATIONS } from "./migrate.ts";

const TIME = Date.UTC(2026, 0, 1);

it("[D5-versions-list] files and replaced versions from before stay as they were: each file is at version 1", async () => {
  const path = join(makeDirectory(), "coffer.sqlite");
  const [accountId, vaultId, fileId, versionId] = Array.from({ length: 4 }, () => randomUUID()) as [
    string,
    string,
    string,
    string,
  ];
  {
    await using before = await openSqlite({ path, reserveBytes: 0 });
    await migrate(
      before,
      MIGRATIONS.filter(({ version }) => version < 17),
    );
  }
  {
    using handle = new DatabaseSync(path);
    const insert = (table: string, row: Record<string, string | number>): void => {
      const marks = Object.keys(row).map(() => "?");
      handle
        .prepare(`INSERT INTO ${table} (${Object.keys(row).join()}) VALUES (${marks.join()})`)
        .run(...Object.values(row));
    };
    const times = { created_at: TIME, updated_at: TIME + 5 };
    const usage = { usage_bytes: 7, usage_files: 1, sequence: 0, default_vault_id: vaultId };
    insert("accounts", { id: accountId, email: "a@example.test", email_verified: 0, plan: "pro", ...usage, ...times });
    insert("vaults", { id: vaultId, account_id: accountId, name: "V", type: "shared", ...times });
    const content = { version_id: randomUUID(), blob_key: "now", size: 7, content_type: "text/plain", sha256: "f" };
    const place = { account_id: accountId, vault_id: vaultId };
    insert("files", { id: fileId, ...place, name: "a", ...content, encrypted: 1, ...times });
    const kept = { version_id: versionId, blob_key: "then", size: 3, sha256: "e", shared_json: "{}" };
    insert("file_versions", { vault_id: vaultId, file_id: fileId, ...kept, expires_at: TIME + 10_000_000 });
  }
  await using database = await openSqlite({ path, reserveBytes: 0 });
  await migrate(database);
  const { build } = database;
  expect(await database.first(build.selectFrom("files").selectAll())).toMatchObject({
    ...{ id: fileId, version_number: 1, version_at: TIME + 5, version_how: "upload", version_author: null },
  });
  expect(await findKeptVersion(database, { fileId, versionId, now: TIME })).toMatchObject({
    ...{ vault_id: vaultId, blob_key: "then", size: 3, charged: 0, sha256: "e", shared_json: "{}" },
    ...{ author_key: "", replaced_at: TIME + 6_400_000, expires_at: TIME + 10_000_000 },
  });
  expect(await database.first(build.selectFrom("accounts").selectAll())).toMatchObject({
    ...{ usage_bytes: 7, usage_version_bytes: 0 },
  });
  await database.run(build.deleteFrom("files"));
  await database.run(build.deleteFrom("vaults"));
  expect(await database.all(build.selectFrom("file_versions").selectAll())).toEqual([]);
});
