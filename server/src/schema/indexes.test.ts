/** Which index of SQLite answers each query, and that nothing is sorted. postgres-plans.test.ts asks PostgreSQL. */
import { type Compilable, sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { listEntries, listEntriesOf, listOldEntries } from "../features/audit/store.ts";
import { listChangesAfter } from "../features/changes/store.ts";
import { type ItemFilter, listItems } from "../features/items/store.ts";
import { readDeepest } from "../features/folders/store.ts";
import { countUnstaged } from "../features/folder-names/staged-store.ts";
import { holdsOthers, liveEntries } from "../features/folder-names/store.ts";
import { entriesToName } from "../features/folder-names/switching-store.ts";
import { listSessions, rotateRefreshToken } from "../features/sessions/store.ts";
import { deleteOldDeliveries, listDeliveries, listUnrecovered } from "../features/webhooks/deliveries-store.ts";
import { listSubscribers } from "../features/webhooks/delivery/cursor-store.ts";
import { claimsOf, findNextDues, listLanes } from "../features/webhooks/delivery/queue-store.ts";
import { listLiveMembers } from "../features/members/store.ts";
import { findVaultOfMember } from "../features/reach/store.ts";
import { listSteps } from "../features/vault-keys/ladder-store.ts";
import { countKeys, findCurrentKey, listKeys } from "../features/vault-keys/store.ts";
import { listUnwritten } from "../features/tree-acts/store.ts";
import { findVaultIdByChainObject, listVaultsOfMember, readVaultContents } from "../features/vaults/store.ts";
import { listWebhooks } from "../features/webhooks/store.ts";
import { sumGivenUp, sumHeldBytes } from "../features/holds/store.ts";
import { ENDINGS } from "../jobs/identity-expiry.ts";
import { deleteEnded } from "../jobs/identity/store.ts";
import type { Database, Queries } from "../ports/database.ts";
import { openTestSqlite } from "../storage.test-kit.ts";

const directory = makeDirectory();
let database: Database;
beforeAll(async () => {
  database = await openTestSqlite(directory);
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

const anywhere: ItemFilter = { accountId: "a", vaultId: null, folderId: undefined, name: undefined, trashed: false };
const position = { createdAt: 1, id: "i" };

describe("a page of files costs the same however many there are: it is read off an index, unsorted,", () => {
  const cases: readonly [name: string, filter: ItemFilter, index: string][] = [
    ["in an account", anywhere, "files_account_live"],
    ["in a vault", { ...anywhere, vaultId: "v" }, "files_vault_live"],
    ["in a folder", { ...anywhere, vaultId: "v", folderId: "f" }, "files_folder_live"],
    ["at the top of a vault", { ...anywhere, vaultId: "v", folderId: null }, "files_folder_live"],
    ["in the trash", { ...anywhere, trashed: true }, "files_account_trashed"],
    ["in a vault's trash", { ...anywhere, vaultId: "v", trashed: true }, "files_vault_trashed"],
    ["of a name in a vault", { ...anywhere, vaultId: "v", name: "n" }, "files_name_live"],
    ["of a name in a vault's trash", { ...anywhere, vaultId: "v", name: "n", trashed: true }, "files_name_trashed"],
  ];
  for (const [name, filter, index] of cases) {
    it.each([null, position])(`${name}, after %j`, async (after) => {
      const plan = await planOf((queries) => listItems(queries, "file", filter, after, 100));
      expect(plan).toContain(`USING INDEX ${index} `);
      expect(plan).not.toContain("TEMP B-TREE");
    });
  }
});

it.each([
  ["a folder", { folderId: "f" }, false, "files_live_name (vault_id=? AND <expr>=? AND name=?)"],
  ["the top of a vault", { folderId: null }, false, "files_live_name (vault_id=? AND <expr>=? AND name=?)"],
  ["a trashed folder", { folderId: "f" }, true, "files_name_trashed (account_id=? AND vault_id=? AND name=?"],
] as const)("a name in %s is one look-up", async (_, place, trashed, index) => {
  const filter = { ...anywhere, vaultId: "v", ...place, name: "n", trashed };
  expect(await planOf((queries) => listItems(queries, "file", filter, null, 100))).toContain(`INDEX ${index}`);
});

it("what an act on a folder has not written is found off the indexes of listings", async () => {
  const part = { account_id: "a", vault_id: "v", trashed_with: "f" };
  for (const [kind, index] of [
    ["trash", "files_folder_live"],
    ["restore", "files_folder_trashed"],
  ] as const) {
    const plan = await planOf((queries) => listUnwritten(queries, "files", { ...part, kind }, ["f", "g"], 9));
    expect(plan).toContain(`INDEX ${index} (account_id=? AND vault_id=? AND <expr>=?`);
  }
});

it("how deep a folder that comes back reaches is found from folder to folder", async () => {
  const plan = await planOf((queries) => readDeepest(queries, "f", { trashedWith: "f" }));
  expect(plan).toContain("SEARCH folders USING INDEX folders_in_parent (parent_id=?)");
  expect(plan).not.toContain("folders_trashed_with");
});

it("what a vault holds is counted on indexes alone", async () => {
  for (const which of [0, 1]) {
    const plan = await planOf((queries) => readVaultContents(queries, "v"), which);
    expect(plan).toMatch(/USING COVERING INDEX (files|file_versions)_counted \(vault_id=\?\)/);
  }
});

it("ids that begin alike are read off their key, before anything else is looked at", async () => {
  const plan = await planOf((queries) => listItems(queries, "file", { ...anywhere, ids: ["a", "b"] }, position, 100));
  expect(plan).toMatch(/SEARCH files USING INDEX sqlite_autoindex_files_1 \(id>\? AND id<\?\)/);
});

describe("shared vaults cost the same however many there are:", () => {
  it.each([null, position])("those of others are found by who is a member of them, after %j", async (after) => {
    const plan = await planOf((queries) =>
      listVaultsOfMember(queries, { chainAddress: "0x1", accountId: "a" }, { after, limit: 100 }),
    );
    expect(plan).toContain("INDEX vault_members_address (chain_address=?)");
    expect(plan).not.toContain("SCAN");
  });

  it("whether an address is a member is one look at the key", async () => {
    const plan = await planOf((queries) => findVaultOfMember(queries, { id: "v", chainAddress: "0x1" }));
    expect(plan).toMatch(
      /vault_members USING INDEX \w+ \((chain_address|vault_id)=\? AND (chain_address|vault_id)=\?\)/,
    );
    expect(plan).not.toContain("SCAN");
  });

  it("the vault of a chain object, and the current key of a generation, are found by their unique indexes", async () => {
    const object = await planOf((queries) => findVaultIdByChainObject(queries, { chainObjectId: "0x1" }));
    expect(object).toContain("INDEX vaults_chain_object (chain_object_id=?)");
    const key = await planOf((queries) => findCurrentKey(queries, { vaultId: "v", generation: 1, after: 0 }));
    expect(key).toContain("INDEX vault_keys_current (vault_id=? AND generation=? AND after=?)");
  });

  it.each([null, position])("a page of vault keys is read off an index, unsorted, after %j", async (after) => {
    const plan = await planOf((queries) =>
      listKeys(queries, { vaultId: "v", generation: undefined }, { after, limit: 100 }),
    );
    expect(plan).toContain("USING INDEX vault_keys_newest (vault_id=?");
    expect(plan).not.toContain("TEMP B-TREE");
    const one = await planOf((queries) => listKeys(queries, { vaultId: "v", generation: 1 }, { after, limit: 100 }));
    expect(one).toContain("USING INDEX vault_keys_of_generation (vault_id=? AND generation=?");
    expect(one).not.toContain("TEMP B-TREE");
    const count = await planOf((queries) =>
      countKeys(queries, { vaultId: "v", generation: 1, after: 0, creator: "0x1" }),
    );
    expect(count).toContain("USING INDEX vault_keys_of_generation (vault_id=? AND generation=?)");
  });

  it.each([null, position])("a page of steps is read off the key of their table, unsorted, after %j", async (after) => {
    const plan = await planOf((queries) => listSteps(queries, "v", { after, limit: 100 }));
    expect(plan).toMatch(/USING INDEX sqlite_autoindex_ladder_steps_1 \(vault_id=\?/);
    expect(plan).not.toContain("TEMP B-TREE");
  });

  it("a folder's entries are read off the index of names, unsorted, and whether there are others is one look", async () => {
    const folder = { vaultId: "v", folderId: "" };
    const entries = await planOf((queries) => liveEntries(queries, folder).next());
    expect(entries).toContain("INDEX files_live_name (vault_id=? AND <expr>=? AND name>?)");
    expect(entries).not.toContain("TEMP B-TREE");
    const others = await planOf((queries) => holdsOthers(queries, folder, "i"));
    expect(others).toContain("INDEX files_live_name (vault_id=? AND <expr>=?)");
    expect(others).not.toContain("TEMP B-TREE");
  });

  it.each(["", "f"])(
    "a folder's entries are named in the order in which they were made, unsorted, in %j",
    async (folderId) => {
      const plan = await planOf((queries) =>
        entriesToName(queries, { accountId: "a", vaultId: "v", folderId }, "k").next(),
      );
      expect(plan).toContain("item USING INDEX files_folder_live (account_id=? AND vault_id=? AND <expr>=?)");
      expect(plan).toContain(
        "staged USING INDEX sqlite_autoindex_staged_names_1 (vault_id=? AND folder_id=? AND key_id=? AND item_id=?)",
      );
      expect(plan).not.toContain("TEMP B-TREE");
    },
  );

  it("how many names are missing is counted on indexes", async () => {
    const folder = { vaultId: "v", folderId: "f" };
    const plans = [0, 1, 2].map((which) => planOf((queries) => countUnstaged(queries, folder, "k"), which));
    const [files, folders, staged] = await Promise.all(plans);
    expect(files).toContain("USING INDEX files_live_name (vault_id=? AND <expr>=?)");
    expect(folders).toContain("USING INDEX folders_live_name (vault_id=? AND <expr>=?)");
    expect(staged).toContain(
      "USING COVERING INDEX sqlite_autoindex_staged_names_1 (vault_id=? AND folder_id=? AND key_id=?)",
    );
  });

  it("a vault's members are read by its key", async () => {
    const plan = await planOf((queries) => listLiveMembers(queries, "v"));
    expect(plan).toContain("USING INDEX sqlite_autoindex_vault_members_1 (vault_id=?)");
  });
});

it("what an account's unfinished uploads hold is summed without reading those that have ended", async () => {
  expect(await planOf((queries) => sumGivenUp(queries, "a"))).toContain(
    "COVERING INDEX blob_deletions_account (account_id=?)",
  );
  const plan = await planOf((queries) => sumHeldBytes(queries, { accountId: "a", rowsAfter: 1 }));
  expect(plan).toContain("USING INDEX uploads_held ");
});

describe("a page of the audit log costs the same however long it is:", () => {
  const range = { before: 9, limit: 2 };

  it("the newest entries are read off the table's key", async () => {
    const plan = await planOf((queries) => listEntries(queries, "a", range));
    expect(plan).toContain("USING INDEX sqlite_autoindex_changes_1 (account_id=? AND sequence<?)");
    expect(plan).not.toContain("TEMP B-TREE");
  });

  it("those of an action off an index, and which actions there are by probes of it", async () => {
    const probe = await planOf((queries) => listEntriesOf(queries, "a", "file", range));
    expect(probe).toContain("INDEX changes_action (account_id=? AND action>?)");
    const read = await planOf((queries) => listEntriesOf(queries, "a", "file", range), 1);
    expect(read).toContain("USING INDEX changes_action (account_id=? AND action=? AND sequence<?)");
    expect(probe + read).not.toContain("TEMP B-TREE");
  });

  it("entries to remove are found by their age", async () => {
    const plan = await planOf((queries) => listOldEntries(queries, { after: 0, cutoff: 1 }));
    expect(plan).toContain("USING INDEX changes_occurred_at ");
  });
});

describe("webhook endpoints and the event feed cost the same however many there are:", () => {
  it.each([null, position])(
    "a page of an account's endpoints is read off an index, unsorted, after %j",
    async (after) => {
      const plan = await planOf((queries) =>
        listWebhooks(queries, { accountId: "a" }, { list: "webhooks", limit: 100, after }),
      );
      expect(plan).toContain("USING INDEX webhooks_newest ");
      expect(plan).not.toContain("TEMP B-TREE");
    },
  );

  it("an account's endpoints are found without reading others'", async () => {
    const plan = await planOf((queries) => listSubscribers(queries, "a"));
    expect(plan).toContain("USING INDEX webhooks_newest (account_id=?)");
    expect(plan).not.toContain("SCAN");
  });

  it("a step of the feed, and of what becomes deliveries, is read off the key of the changes", async () => {
    const key = "USING INDEX sqlite_autoindex_changes_1 (account_id=? AND sequence>?)";
    const plan = await planOf((queries) => listChangesAfter(queries, { accountId: "a", after: 1, limit: 9 }));
    expect(plan).toContain(key);
    expect(plan).not.toContain("TEMP B-TREE");
  });
});

describe("sessions cost the same however many there are:", () => {
  it.each([null, position])("a page of an account's is read off an index, unsorted, after %j", async (after) => {
    const page = { list: "sessions", limit: 100, after };
    const plan = await planOf((queries) => listSessions(queries, { accountId: "a", now: 1 }, page));
    expect(plan).toContain("USING INDEX sessions_newest ");
    expect(plan).not.toContain("TEMP B-TREE");
  });

  it("a refresh finds its token and its session by their keys", async () => {
    const plan = await planOf((queries) => queries.first(rotateRefreshToken(queries, { hash: "h", now: 1 })));
    expect(plan).toContain("refresh_tokens USING INDEX sqlite_autoindex_refresh_tokens_1 (hash=?)");
    expect(plan).not.toContain("SCAN");
  });

  it.each(ENDINGS)("what has ended in $table is found off an index", async (ending) => {
    const plan = await planOf((queries) => deleteEnded(queries, ending, 1));
    expect(plan).toContain(`USING INDEX ${ending.table}_${ending.endsAt} (${ending.endsAt}<?)`);
    expect(plan).not.toContain("TEMP B-TREE");
  });
});

describe("webhook deliveries cost the same however many wait:", () => {
  it("what of an endpoint is due is read off its index, in order", async () => {
    const claim = { webhookId: "w", dueBy: 1, limit: 8, most: 8 };
    const plan = await planOf((queries) => claimsOf(database).due(queries, [claim], { now: 1, lease: 2 }));
    expect(plan).toContain("INDEX webhook_deliveries_leased (webhook_id=?)");
    expect(plan).toContain("INDEX webhook_deliveries_due (webhook_id=? AND next_attempt_at<?)");
    expect(plan).not.toContain("TEMP B-TREE FOR ORDER BY");
    expect(plan.replaceAll("SCAN CONSTANT ROW", "")).not.toMatch(/SCAN (?!left_over)/);
    const next = await planOf((queries) => findNextDues(queries, ["w"]));
    expect(next).toContain("INDEX webhook_deliveries_due (webhook_id=?)");
  });

  it("a look at the endpoints probes that index once for each", async () => {
    const plan = await planOf((queries) => listLanes(queries, ""));
    expect(plan).toContain("INDEX webhook_deliveries_due (webhook_id=?)");
    expect(plan).not.toContain("TEMP B-TREE");
  });

  it("leases that are over are found among those there are", async () => {
    const plan = await planOf((queries) => claimsOf(database).overdue(queries, { longest: 2, limit: 8 }));
    expect(plan).toContain("INDEX webhook_deliveries_leased");
    expect(plan).not.toMatch(/SCAN webhook_deliveries(?! USING)/);
  });

  it.each([null, position])("a page is read off an index, unsorted, after %j", async (after) => {
    const page = { list: "deliveries", limit: 100, after };
    const all = await planOf((queries) => listDeliveries(queries, { webhookId: "w", status: null }, page));
    expect(all).toContain("INDEX webhook_deliveries_newest ");
    const sent = await planOf((queries) => listDeliveries(queries, { webhookId: "w", status: "delivering" }, page));
    expect(sent).toContain("INDEX webhook_deliveries_leased (webhook_id=?");
    expect(all + sent).not.toContain("TEMP B-TREE");
    for (const status of ["pending", "success", "failed"]) {
      const some = await planOf((queries) => listDeliveries(queries, { webhookId: "w", status }, page));
      expect(some).toContain("INDEX webhook_deliveries_by_status (webhook_id=? AND status=?");
      expect(some).not.toContain("TEMP B-TREE");
    }
  });

  it("what failed in a range, and whether it arrived in another delivery, are found off indexes", async () => {
    const range = { webhookId: "w", since: 1, until: 2 };
    const plan = await planOf((queries) => listUnrecovered(queries, range, null));
    expect(plan).toContain("INDEX webhook_deliveries_by_status (webhook_id=? AND ");
    expect(plan).toContain("INDEX webhook_deliveries_message (webhook_id=? AND message_id=?)");
  });

  it("old ones are found by their age", async () => {
    const plan = await planOf((queries) => deleteOldDeliveries(queries, { cutoff: 1, limit: 8 }));
    expect(plan).toContain("INDEX webhook_deliveries_created_at (created_at<?)");
  });
});

/** What SQLite would do for the query that `ask` makes, or for a later one of several. */
async function planOf(ask: (queries: Queries) => Promise<unknown>, which = 0): Promise<string> {
  const asked: Compilable<unknown>[] = [];
  const note = <Row>(query: Compilable<Row>): Promise<Row[]> => {
    asked.push(query);
    return Promise.resolve([]);
  };
  await ask({
    build: database.build,
    all: note,
    first: async (query) => (await note(query))[0] ?? null,
    run: async (query) => (await note(query)).length,
  });
  const query = asked[which];
  if (query === undefined) throw new Error("nothing was asked");
  const compiled = query.compile();
  const explain = sql`explain query plan ${sql.raw(compiled.sql)}`.compile(database.build);
  const rows = await database.all<{ detail: string }>({
    compile: () => ({ ...explain, parameters: compiled.parameters }),
  });
  return rows.map((row) => row.detail).join("\n");
}
