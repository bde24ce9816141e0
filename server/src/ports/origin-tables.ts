/** The row behind features/origin. */

export interface OriginTables {
  readonly database_origin: DatabaseOriginRow;
}

/** At most one row. */
export interface DatabaseOriginRow {
  /** Always 1. */
  id: number;
  /** The mode of the first server or operator's command that wrote here: "development" or "production". */
  mode: string;
}
