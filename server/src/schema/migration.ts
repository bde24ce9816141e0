import type { Queries } from "../ports/database.ts";

/** A step of the schema: applied once, in its own transaction, never changed after a release. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  /**
   * The oldest schema whose servers may go on while this step is made, and after it. Without it all older servers end: those
   * that write as they did would lose what this step is for. A step that only adds what nobody has to write may name one.
   */
  readonly oldestBeside?: number;
  up(queries: Queries): Promise<void>;
}
