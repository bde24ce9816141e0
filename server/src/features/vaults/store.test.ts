import { expect, it } from "vitest";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import { insertAccount, vaultRow } from "../../../../test/kit/rows.ts";
import { openTestDatabase } from "../../storage.test-kit.ts";
import { findVault } from "../reach/store.ts";
import { insertVault, markPurged, updateVault } from "./store.ts";

it("a vault that has changed since it was read is neither changed nor deleted from what was read", async () => {
  const directory = makeDirectory();
  await using database = await openTestDatabase(directory);
  const { accountId } = await insertAccount(database);
  const old = vaultRow({ account_id: accountId });
  await insertVault(database, old);
  const listed = { ...old, trashed_at: 5 };
  expect(await updateVault(database, old, { trashed_at: 5 })).toBe(true);
  expect(await updateVault(database, old, { name: "late" })).toBe(false);
  expect(await updateVault(database, listed, { trashed_at: null, name: "restored" })).toBe(true);
  expect(await updateVault(database, listed, { trashed_at: null })).toBe(false);
  expect(await markPurged(database, listed, { bytes: 0, now: 9 })).toBe(false);
  expect(await findVault(database, { id: old.id, accountId })).toMatchObject({ name: "restored", trashed_at: null });
  expect(await markPurged(database, { ...old, name: "restored" }, { bytes: 0, now: 9 })).toBe(true);
  expect(await findVault(database, { id: old.id, accountId })).toBeNull();
});
