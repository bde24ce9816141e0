import { describe, expect, it } from "vitest";
import { openTestLog } from "../features/audit/log.test-kit.ts";
import { UsageError } from "./command.ts";
import { runCommand } from "./operator.test-kit.ts";
import { ofEachTest } from "../each.test-kit.ts";

const log = ofEachTest(openTestLog);

const run = (...options: string[]) => runCommand(log.directory, "vaults", "delete", ...options);

const VAULT = "a0000000-0000-4000-8000-000000000001";

async function addSharedVault(): Promise<void> {
  const { database, accountId } = log;
  const row = {
    id: VAULT,
    account_id: accountId,
    name: "S",
    type: "shared",
    chain_object_id: `0x${"1".repeat(64)}`,
    owner_address: `0x${"2".repeat(64)}`,
    chain_generation: 1,
    plain_names: 0,
    created_at: 1,
    updated_at: 1,
    trashed_at: null,
  };
  await database.run(database.build.insertInto("vaults").values(row));
}

async function trashedAt(): Promise<number | null | undefined> {
  const { database } = log;
  return (await database.first(database.build.selectFrom("vaults").select("trashed_at").where("id", "=", VAULT)))
    ?.trashed_at;
}

async function actions() {
  const { database, accountId } = log;
  const rows = await database.all(
    database.build.selectFrom("changes").select(["action", "actor_json"]).where("account_id", "=", accountId),
  );
  return rows.map(({ action, actor_json }) => [action, (JSON.parse(actor_json) as { type: string }).type]);
}

describe("[D5-owner-proof] coffer-server vaults delete", () => {
  it("moves a shared vault to the trash without its owner's proof, and the audit log names the operator", async () => {
    await addSharedVault();
    expect(await run(VAULT.toUpperCase())).toMatchObject({ status: 0 });
    expect(await trashedAt()).toBeGreaterThan(0);
    expect(await actions()).toEqual([["vault.trashed", "operator"]]);
    expect((await log.check()).fault).toBeNull();
    expect(await run(VAULT)).toMatchObject({ status: 0, note: "It was in the trash before\n" });
    expect(await actions()).toHaveLength(1);
  });

  it("deletes for good with --permanent, from the trash or at once", async () => {
    await addSharedVault();
    await run(VAULT);
    expect(await run(VAULT, "--permanent")).toMatchObject({ status: 0 });
    expect(await trashedAt()).toBeUndefined();
    expect(await actions()).toEqual([
      ["vault.trashed", "operator"],
      ["vault.deleted", "operator"],
    ]);
  });

  it("refuses an unknown id and a default vault, and asks for an id", async () => {
    expect(await run(VAULT)).toMatchObject({ status: 1 });
    const { database, accountId } = log;
    const account = await database.first(
      database.build.selectFrom("accounts").select("default_vault_id as id").where("id", "=", accountId),
    );
    expect(await run(account?.id ?? "", "--permanent")).toMatchObject({ status: 1 });
    await expect(run()).rejects.toThrow(UsageError);
    await expect(run(VAULT, "--now")).rejects.toThrow(UsageError);
  });
});
