/** Brings a database to the newest schema of this server. */
import { type Kysely, sql } from "kysely";
import { type Database, DatabaseUnavailableError, type Queries } from "../ports/database.ts";
import type { Tables } from "../ports/tables.ts";
import { baseline } from "./baseline.ts";
import type { Migration } from "./migration.ts";

/** All of them, oldest first. */
export const MIGRATIONS: readonly Migration[] = [baseline];

/** A step that was taken, and how long it took with the wait for others. */
export interface AppliedMigration extends Pick<Migration, "version" | "name"> {
  readonly milliseconds: number;
}

interface MigrationRow {
  version: number;
  name: string;
  /** null: no older server may go on beside it. */
  oldest_beside: number | null;
}

/**
 * Applies what is missing. Several processes may start at once: one at a time takes a step, and each looks at the schema first. From
 * then on a newer server's steps stop this one, unless they let it go on.
 * @param onApplied is told of each step that this call has taken, once it is committed.
 * @throws OutdatedServerError when a newer server has made the database one that this server may not write to.
 * @throws EarlierSchemaError
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[] = MIGRATIONS,
  onApplied: (migration: AppliedMigration) => void = () => undefined,
): Promise<void> {
  const newest = migrations.at(-1)?.version ?? 0;
  const found = await findIfAny(database);
  for (const migration of migrations.filter(({ version }) => version > found)) {
    const began = performance.now();
    const { version, name } = migration;
    if (await apply(database, migration))
      onApplied({ version, name, milliseconds: Math.round(performance.now() - began) });
  }
  database.schemaGuard.expect(newest);
  await database.ping();
}

/** A database whose schema is older than the baseline: no server brings it up to date. */
export class EarlierSchemaError extends Error {
  override readonly name = "EarlierSchemaError";

  constructor(version: number) {
    super(
      `The database has schema ${version}, of before the first release, which is not brought up to date: begin with a new database, or take the files out of this one with the version that made it`,
    );
  }
}

/** @throws EarlierSchemaError */
export function refuseEarlier(version: number): void {
  if (version > 0 && version < baseline.version) throw new EarlierSchemaError(version);
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

/** Whether it had to be applied. */
function apply(database: Database, migration: Migration): Promise<boolean> {
  return database.migration(async (transaction) => {
    const found = await readVersion(transaction);
    if (found >= migration.version) return false;
    refuseEarlier(found);
    await migration.up(transaction);
    const { version, name, oldestBeside = null } = migration;
    const row: MigrationRow = { version, name, oldest_beside: oldestBeside };
    await transaction.run(withMigrations(transaction).insertInto("migrations").values(row));
    return true;
  });
}

/** 0: an empty database. */
async function readVersion(transaction: Queries): Promise<number> {
  await transaction.run(
    withMigrations(transaction)
      .schema.createTable("migrations")
      .ifNotExists()
      .addColumn("version", "integer", (column) => column.primaryKey())
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("oldest_beside", "integer"),
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
