/** A row of any kind: its account, and its place in the order of creation. */
export interface Row<Value> {
  readonly accountId: string;
  readonly sequence: number;
  value: Value;
}

/** The date of rows, and their order. */
export interface Ticking {
  /** Milliseconds since 1970. */
  now(): number;
  next(): number;
}
