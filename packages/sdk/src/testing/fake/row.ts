/** A row of any kind: whose it is, and its place in the order of creation. */
export interface Row<Value> {
  readonly accountId: string;
  readonly sequence: number;
  value: Value;
}

/** What dates rows, and what orders them. */
export interface Ticking {
  /** Milliseconds since 1970. */
  now(): number;
  next(): number;
}
