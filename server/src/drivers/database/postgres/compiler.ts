import { type DataTypeNode, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import { compileOnly } from "../compile-only.ts";

/** A Kysely that builds and compiles for PostgreSQL; executing through it rejects (see ports/database.ts). */
export function compilerFor<Schema>(): Kysely<Schema> {
  return new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => compileOnly,
      createIntrospector: (database) => new PostgresIntrospector(database),
      createQueryCompiler: () => new Compiler(),
    },
  });
}

/**
 * Text is ordered and cut by its bytes, as in SQLite, whatever the locale of the database: columns of text are made so.
 * An index of another collation would also serve no search for a prefix (postgresql.org/docs/current/indexes-opclass.html).
 */
class Compiler extends PostgresQueryCompiler {
  protected override visitDataType(node: DataTypeNode): void {
    super.visitDataType(node);
    if (node.dataType === "text" && this.parentNode?.kind === "ColumnDefinitionNode") this.append(' collate "C"');
  }
}
