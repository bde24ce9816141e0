import type { Queries } from "../ports/database.ts";

/** A step of the schema: applied once, in its own transaction, never changed after a release. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  up(queries: Queries): Promise<void>;
}
