import {
  type BinaryOperationNode,
  type DataTypeNode,
  Kysely,
  OperatorNode,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  PrimitiveValueListNode,
} from "kysely";
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

const COMPARED: Readonly<Record<string, string>> = { in: "= any", "not in": "<> all" };

/**
 * Text is ordered and cut by its bytes, as in SQLite, whatever the locale of the database: columns of text are made so.
 * An index of another collation would also serve no search for a prefix (postgresql.org/docs/current/indexes-opclass.html).
 */
class Compiler extends PostgresQueryCompiler {
  /**
   * A list of values becomes one array. So the text is the same for every length, and a list may be empty, which PostgreSQL's `in` refuses.
   */
  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const { leftOperand, operator, rightOperand } = node;
    const compares = OperatorNode.is(operator) ? COMPARED[operator.operator] : undefined;
    if (compares === undefined || !PrimitiveValueListNode.is(rightOperand)) {
      super.visitBinaryOperation(node);
      return;
    }
    this.visitNode(leftOperand);
    this.append(` ${compares}(`);
    this.appendValue(rightOperand.values);
    this.append(")");
  }

  protected override visitDataType(node: DataTypeNode): void {
    super.visitDataType(node);
    if (node.dataType === "text" && this.parentNode?.kind === "ColumnDefinitionNode") this.append(' collate "C"');
  }
}
