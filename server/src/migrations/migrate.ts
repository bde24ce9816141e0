/** Brings a database to the newest schema of this server. */
import { type Kysely, sql } from "kysely";
import { type Database, DatabaseUnavailableError, type Queries } from "../ports/database.ts";
import type { Tables } from "../ports/tables.ts";
import { foundation } from "./0001-foundation.ts";
import { identity } from "./0002-identity.ts";
import { webhooks } from "./0003-webhooks.ts";
import { sharedVaults } from "./0004-shared-vaults.ts";
import { webhookStatuses } from "./0005-webhook-statuses.ts";
import { inviteSigningKeys } from "./0006-invite-signing-keys.ts";
import { manyRows } from "./0007-many-rows.ts";
import { revisions } from "./0008-revisions.ts";
import { uploadHolds } from "./0009-upload-holds.ts";
import { vaultTrash } from "./0010-vault-trash.ts";
import { leases } from "./0011-leases.ts";
import { signInDelays } from "./0012-sign-in-delays.ts";
import { deletedBytes } from "./0013-deleted-bytes.ts";
import { ends } from "./0014-ends.ts";
import { ladder } from "./0015-ladder.ts";
import { places } from "./0016-places.ts";
import { versions } from "./0017-versions.ts";
import { authorsAndEntries } from "./0018-authors-and-entries.ts";
import { changeFilters } from "./0019-change-filters.ts";
import { search } from "./0020-search.ts";
import { budgets } from "./0021-budgets.ts";
import { uploadsThatKeepNothing } from "./0024-uploads-that-keep-nothing.ts";
import { waitingEntries } from "./0026-waiting-entries.ts";
import { blobParts } from "./0028-blob-parts.ts";
import { sharedRates } from "./0030-shared-rates.ts";
import { moves } from "./0031-moves.ts";
import { stepsOfRecords } from "./0034-steps-of-records.ts";
import { quarantine } from "./0035-quarantine.ts";
import { storeMarks } from "./0036-store-marks.ts";
import { largeActs } from "./0037-large-acts.ts";
import { runningMarks } from "./0038-running-marks.ts";
import { oldestBeside } from "./0039-oldest-beside.ts";
import { largePasts } from "./0040-large-pasts.ts";
import { databaseOrigin } from "./0041-database-origin.ts";
import type { Migration } from "./migration.ts";

/** All of them, oldest first. */
export const MIGRATIONS: readonly Migration[] = [
  foundation,
  identity,
  webhooks,
  sharedVaults,
  webhookStatuses,
  inviteSigningKeys,
  manyRows,
  revisions,
  uploadHolds,
  vaultTrash,
  leases,
  signInDelays,
  deletedBytes,
  ends,
  ladder,
  places,
  versions,
  authorsAndEntries,
  changeFilters,
  search,
  budgets,
  uploadsThatKeepNothing,
  waitingEntries,
  blobParts,
  sharedRates,
  moves,
  stepsOfRecords,
  quarantine,
  storeMarks,
  largeActs,
  runningMarks,
  oldestBeside,
  largePasts,
  databaseOrigin,
];

interface MigrationRow {
  version: number;
  name: string;
  /** null: of before steps named it, or none older may. */
  oldest_beside?: number | null;
}

/**
 * Applies what is missing. Several processes may start at once: one at a time takes a step, and each looks at the schema first. From
 * then on a newer server's steps stop this one, unless they let it go on.
 * @throws OutdatedServerError when a newer server has made the database one that this server may not write to.
 */
export async function migrate(database: Database, migrations: readonly Migration[] = MIGRATIONS): Promise<void> {
  const newest = migrations.at(-1)?.version ?? 0;
  const found = await findIfAny(database);
  for (const migration of migrations.filter(({ version }) => version > found)) await apply(database, migration);
  if (newest < oldestBeside.version) return;
  database.schemaGuard.expect(newest);
  await database.ping();
}

/** Without the lock of migrations: whoever starts must not stop those that are writing. 0: an empty database. */
async function findIfAny(database: Database): Promise<number> {
  try {
    return await findVersion(database);
  } catch (error) {
    if (error instanceof DatabaseUnavailableError && !error.busy) throw error;
    return 0;
  }
}

async function apply(database: Database, migration: Migration): Promise<void> {
  await database.migration(async (transaction) => {
    if ((await readVersion(transaction)) >= migration.version) return;
    await migration.up(transaction);
    const { version, name } = migration;
    // The steps before it know no such column.
    const isNamed = version >= oldestBeside.version;
    const row: MigrationRow = { version, name, ...(isNamed && { oldest_beside: migration.oldestBeside ?? null }) };
    await transaction.run(withMigrations(transaction).insertInto("migrations").values(row));
  });
}

/** 0: an empty database. */
async function readVersion(transaction: Queries): Promise<number> {
  await transaction.run(
    withMigrations(transaction)
      .schema.createTable("migrations")
      .ifNotExists()
      .addColumn("version", "integer", (column) => column.primaryKey())
      .addColumn("name", "text", (column) => column.notNull()),
  );
  return findVersion(transaction);
}

/** The schema of a database that has been migrated; rejects for any other. Only reads. */
export async function findVersion(queries: Queries): Promise<number> {
  const row = await queries.first(
    withMigrations(queries)
      .selectFrom("migrations")
      .select(sql<number>`coalesce(max(version), 0)`.as("version")),
  );
  return row?.version ?? 0;
}

function withMigrations(queries: Queries): Kysely<Tables & { migrations: MigrationRow }> {
  return queries.build.$extendTables<{ migrations: MigrationRow }>();
}
