/**
 * Chains the changes that schema 1 recorded without a chain. This step writes out again how an entry was rendered and
 * hashed, and never changes. A later contract must not give another chain to a database that is migrated later.
 */
import { hash } from "node:crypto";
import { prepared, type Queries } from "../../ports/database.ts";
import type { ChangeRow } from "../../ports/tables.ts";

const BATCH = 500;

type OldRow = Pick<
  ChangeRow,
  "account_id" | "sequence" | "id" | "action" | "actor_json" | "target_json" | "occurred_at"
>;

const rowsAfter = prepared((build, value: { accountId: string; sequence: number }) =>
  build
    .selectFrom("changes")
    .select(["account_id", "sequence", "id", "action", "actor_json", "target_json", "occurred_at"])
    .where((row) =>
      row.or([
        row("account_id", ">", value.accountId),
        row.and([row("account_id", "=", value.accountId), row("sequence", ">", value.sequence)]),
      ]),
    )
    .orderBy("account_id")
    .orderBy("sequence")
    .limit(BATCH),
);

type Chained = Pick<ChangeRow, "actor_json" | "target_json" | "context_json" | "previous_hash" | "hash">;

const chainRow = prepared((build, value: { accountId: string; sequence: number } & Record<keyof Chained, string>) =>
  build
    .updateTable("changes")
    .set({
      actor_json: value.actor_json,
      target_json: value.target_json,
      context_json: value.context_json,
      previous_hash: value.previous_hash,
      hash: value.hash,
    })
    .where("account_id", "=", value.accountId)
    .where("sequence", "=", value.sequence),
);

const setHead = prepared((build, value: { accountId: string; hash: string }) =>
  build.updateTable("accounts").set({ changes_hash: value.hash }).where("id", "=", value.accountId),
);

const FIRST = "0".repeat(64);

/** Goes over the rows of each account in their order, a batch at a time. */
export async function chainExistingChanges(queries: Queries): Promise<void> {
  let head = { accountId: "", sequence: 0, hash: FIRST };
  for (;;) {
    const rows = await queries.all(rowsAfter(queries, head));
    for (const row of rows) {
      if (row.account_id !== head.accountId) {
        await queries.run(setHead(queries, head));
        head = { accountId: row.account_id, sequence: 0, hash: FIRST };
      }
      const chained = chain(row, head.hash);
      await queries.run(chainRow(queries, { accountId: row.account_id, sequence: row.sequence, ...chained }));
      head = { accountId: row.account_id, sequence: row.sequence, hash: chained.hash };
    }
    if (rows.length < BATCH) break;
  }
  await queries.run(setHead(queries, head));
}

/** Schema 1 wrote `{ kind, keyId, accessLevel, chainAddress }` and `{ kind, id, vaultId? }`, and nothing of the request. */
interface OldActor {
  readonly kind: string;
  readonly keyId?: string | null;
  readonly accessLevel?: string;
  readonly chainAddress?: string | null;
}

interface OldTarget {
  readonly kind: string;
  readonly id: string;
  readonly vaultId?: string;
}

function chain(row: OldRow, previousHash: string): Chained {
  const { kind, keyId = null, accessLevel = null, chainAddress = null } = JSON.parse(row.actor_json) as OldActor;
  const { kind: type, id, vaultId } = JSON.parse(row.target_json) as OldTarget;
  const rendered = JSON.stringify([
    "coffer audit v1",
    previousHash,
    row.account_id,
    row.sequence,
    row.id,
    row.action,
    new Date(row.occurred_at).toISOString(),
    [kind, keyId, accessLevel, chainAddress],
    [[type, id, vaultId ?? null]],
    [null, null, null],
  ]);
  return {
    actor_json: JSON.stringify({ type: kind, id: keyId, accessLevel, chainAddress }),
    target_json: JSON.stringify(vaultId === undefined ? { type, id } : { type, id, vaultId }),
    context_json: JSON.stringify({ requestId: null, location: null, userAgent: null }),
    previous_hash: previousHash,
    hash: hash("sha256", rendered, "hex"),
  };
}
