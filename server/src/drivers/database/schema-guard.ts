/** Whether this server may still write. What the schema allows is in the table of migrations (schema/migrate.ts). */
import { CompiledQuery } from "kysely";
import { OutdatedServerError, type SchemaGuard } from "../../ports/database.ts";

export class SchemaQueryGuard implements SchemaGuard {
  readonly #outdated = Promise.withResolvers<OutdatedServerError>();
  #version = 0;
  #query: CompiledQuery<SchemaState> | null = null;

  /**
   * Finds a newer step that servers of the expected schema may not go on beside; nothing is the usual answer, from one probe of
   * the primary key. A step that names no schema excludes all that are older.
   */
  get query(): CompiledQuery<SchemaState> | null {
    return this.#query;
  }

  get outdated(): Promise<OutdatedServerError> {
    return this.#outdated.promise;
  }

  expect(version: number): void {
    this.#version = version;
    this.#query = CompiledQuery.raw(
      `SELECT version FROM migrations WHERE version > ${version} AND coalesce(oldest_beside, version) > ${version} ORDER BY version DESC LIMIT 1`,
    );
  }

  /** @throws OutdatedServerError */
  check(found: SchemaState | null | undefined): void {
    if (found === null || found === undefined) return;
    const error = new OutdatedServerError(
      `The database has schema ${found.version}, and servers of schema ${this.#version} may not write to it. Start a server at least as new as the one that made it`,
    );
    this.#outdated.resolve(error);
    throw error;
  }
}

interface SchemaState {
  readonly version: number;
}
