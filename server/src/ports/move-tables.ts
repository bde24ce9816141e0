/** Rows about moving all data to other storage. */

export interface MoveTables {
  readonly moves: MoveRow;
}

/** At most one row. */
export interface MoveRow {
  /** The same on both sides of one move. */
  id: string;
  /** leaving: copied from here. left: it is elsewhere by now. arriving: copied to here, and not complete. */
  state: "leaving" | "left" | "arriving";
  /** The other side, without secrets. */
  other: string;
  at: number;
}
