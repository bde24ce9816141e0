import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { wrapped } from "../../wrapped.test-kit.ts";
import { ManualClock } from "../../../../test/kit/clock.ts";
import type { Principal } from "../../handler.ts";
import type { Database } from "../../ports/database.ts";
import { systemRandom } from "../../ports/random.ts";
import type { AccountRow } from "../../ports/tables.ts";
import { parseConfig } from "../../config.ts";
import { ofEachTest } from "../../each.test-kit.ts";
import { openTestLog } from "../audit/log.test-kit.ts";
import { actAs, type ActDeps, actOn, actOnAll } from "./act.ts";

const log = ofEachTest(openTestLog);
const clock = new ManualClock();
const origin = { requestId: "r-1", address: "192.0.2.1", userAgent: null };
const settings = parseConfig({ SERVICE_PRO_STORAGE_BYTES: "1000", SERVICE_ENV: "development" }).settings;

function deps(database: Database = log.database): ActDeps {
  return { database, clock, random: systemRandom };
}

const uploaded = () => ({ action: "file.uploaded", actor: null, target: { kind: "file", id: randomUUID() } });

async function readAccount(id = log.accountId): Promise<AccountRow> {
  const { database } = log;
  const row = await database.first(database.build.selectFrom("accounts").selectAll().where("id", "=", id));
  if (row === null) throw new Error("no such account");
  return row;
}

/** The database, with the texts of all statements that acts run. */
function listening(database: Database): { readonly database: Database; readonly statements: string[] } {
  const statements: string[] = [];
  const act: Database["act"] = (ids, work, options) =>
    database.act(
      ids,
      (transaction, accounts) => {
        const heard: typeof transaction = {
          build: transaction.build,
          all: (query) => transaction.all(hear(query)),
          first: (query) => transaction.first(hear(query)),
          run: (query) => transaction.run(hear(query)),
        };
        return work(heard, accounts);
      },
      options,
    );
  const hear = <Query extends { compile(): { readonly sql: string } }>(query: Query): Query => {
    statements.push(query.compile().sql);
    return query;
  };
  return { statements, database: wrapped(database, { act }) };
}

describe("an act of an account", () => {
  it("writes the account's row once, with all that it counted, noted and changed", async () => {
    const { database, statements } = listening(log.database);
    await actOn(deps(database), log.accountId, async (act) => {
      act.charge({ settings }, { bytes: 300, files: 2 });
      await act.record(uploaded());
      act.free({ bytes: 100, files: 1 });
      await act.record(uploaded());
      act.change({ name: "New" });
      expect(act.account).toMatchObject({ usage_bytes: 200, usage_files: 1, sequence: 2, name: "New" });
    });
    expect(await readAccount()).toMatchObject({ usage_bytes: 200, usage_files: 1, sequence: 2, name: "New" });
    expect(await log.check()).toMatchObject({ entries: 2, fault: null });
    expect(statements.filter((sql) => sql.startsWith('update "accounts"'))).toHaveLength(1);
  });

  it("writes no row of an account that it only looked at, and nothing when it fails", async () => {
    const { database, statements } = listening(log.database);
    await actOn(deps(database), log.accountId, (act) => Promise.resolve(act.account.name));
    expect(statements).toEqual([]);
    const failing = actOn(deps(), log.accountId, async (act) => {
      act.charge({ settings }, { bytes: 1, files: 1 });
      await act.record(uploaded());
      throw new Error("changed my mind");
    });
    await expect(failing).rejects.toThrow("changed my mind");
    expect(await readAccount()).toMatchObject({ usage_bytes: 0, sequence: 0 });
    expect(await log.check()).toMatchObject({ entries: 0, fault: null });
  });

  it("holds at most what its plan allows, however many act at once, and less at any time", async () => {
    const charge = (bytes: number) =>
      actOn(deps(), log.accountId, async (act) => act.charge({ settings }, { bytes, files: 1 }));
    const charged = await Promise.allSettled(Array.from({ length: 10 }, () => charge(300)));
    expect(charged.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    await expect(charge(101)).rejects.toMatchObject({ code: "storage_quota" });
    await charge(-200);
    await charge(100);
    expect((await readAccount()).usage_bytes).toBe(800);
  });

  it("of two accounts writes both", async () => {
    const other = await log.addAccount();
    await actOnAll(deps(), [log.accountId], async (actOf) => {
      await actOf(other).record(uploaded());
      await actOf(log.accountId).record(uploaded());
      actOf(other).charge({ settings }, { bytes: 7, files: 1 });
    });
    expect(await readAccount(other)).toMatchObject({ sequence: 1, usage_bytes: 7 });
    expect(await readAccount()).toMatchObject({ sequence: 1, usage_bytes: 0 });
  });

  it("is none where there is no account", async () => {
    const act = actOn(deps(), randomUUID(), () => Promise.resolve("done"));
    await expect(act).rejects.toMatchObject({ code: "invalid_credential" });
  });
});

describe("an act of a caller", () => {
  it("in another account's vault is that account's, and leaves nothing of the first try", async () => {
    const member = await log.addAccount();
    const acted = await actAs(deps(), principalOf(member), async (act) => {
      act.charge({ settings }, { bytes: 5, files: 1 });
      await act.record({ ...uploaded(), accountId: log.accountId });
      return act.account.id;
    });
    expect(acted).toBe(log.accountId);
    expect(await readAccount()).toMatchObject({ sequence: 1, usage_bytes: 5 });
    expect(await readAccount(member)).toMatchObject({ sequence: 0, usage_bytes: 0 });
  });

  it("follows a vault that goes on to yet another account meanwhile, and gives up at some time", async () => {
    const accounts = [log.accountId, await log.addAccount(), await log.addAccount()];
    const [member = ""] = accounts.splice(1, 1);
    const goingOn = [...accounts];
    const follow = (places: string[]) =>
      actAs(deps(), principalOf(member), async (act) => {
        act.requireAccount(places.shift() ?? act.account.id);
        return act.account.id;
      });
    expect(await follow(goingOn)).toBe(accounts[1]);
    const restless = Array.from({ length: 20 }, (_, index) => accounts[index % 2] ?? "");
    await expect(follow(restless)).rejects.toThrow("another's");
  });

  it("is refused once its key is revoked or over, or its session has ended", async () => {
    const keyId = await insertKey({});
    const principal = { ...principalOf(log.accountId), keyId };
    const act = () => actAs(deps(), principal, () => Promise.resolve());
    await act();
    await changeKey(keyId, { expires_at: clock.now() });
    await expect(act()).rejects.toMatchObject({ code: "invalid_credential" });
    await changeKey(keyId, { expires_at: null, revoked_at: clock.now() });
    await expect(act()).rejects.toMatchObject({ code: "invalid_credential" });
    const session = { ...principal, keyId: null, sessionId: randomUUID() };
    const ended = actAs(deps(), session, () => Promise.resolve());
    await expect(ended).rejects.toMatchObject({ code: "invalid_credential" });
  });

  it("is refused as the owner once its key is an agent's", async () => {
    const chainAddress = `0x${"a".repeat(64)}`;
    const keyId = await insertKey({ chain_address: chainAddress });
    const principal = { ...principalOf(log.accountId), keyId, chainAddress };
    const act = () => actAs(deps(), principal, () => Promise.resolve());
    await actOn(deps(), log.accountId, async (owner) => owner.change({ chain_address: chainAddress }));
    await act();
    await actOn(deps(), log.accountId, async (owner) => owner.change({ chain_address: `0x${"b".repeat(64)}` }));
    await expect(act()).rejects.toMatchObject({ code: "owner_only" });
  });
});

function principalOf(accountId: string): Principal {
  return {
    kind: "api-key",
    accountId,
    keyId: null,
    sessionId: null,
    name: null,
    accessLevel: "owner",
    scopes: null,
    vaultIds: null,
    chainAddress: null,
    expiresAt: null,
    budgets: [],
    origin,
  };
}

async function insertKey(more: { readonly chain_address?: string }): Promise<string> {
  const id = randomUUID();
  const row = {
    id,
    account_id: log.accountId,
    name: "key",
    hash: id,
    prefix: "",
    last4: "",
    scopes_json: null,
    vault_ids_json: null,
    chain_address: null,
    chain_public_key: null,
    expires_at: null,
    last_used_at: null,
    revoked_at: null,
    created_at: clock.now(),
    ...more,
  };
  await log.database.run(log.database.build.insertInto("api_keys").values(row));
  return id;
}

async function changeKey(id: string, changes: { expires_at?: number | null; revoked_at?: number }): Promise<void> {
  await log.database.run(log.database.build.updateTable("api_keys").set(changes).where("id", "=", id));
}
