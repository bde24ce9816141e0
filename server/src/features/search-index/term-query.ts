/** What an index of terms is asked, whichever dialect it is in. */
import type { Queries } from "../../ports/database.ts";

export interface TermsEntry {
  readonly searchId: number;
  readonly terms: readonly string[];
}

/** Files have a term of each list in `all`, and not every term of `not`. */
export interface TermQuery {
  readonly all: readonly (readonly string[])[];
  readonly not?: readonly string[];
}

export interface Part {
  readonly after: number;
  readonly count: number;
}

export interface TermsStore {
  /** The column of the entry's id. */
  readonly id: string;
  /** In the order of the ids. */
  put(transaction: Queries, entries: readonly TermsEntry[]): Promise<void>;
  /** At most `count` ids after `after`, in order: those of the newest files first. */
  list(queries: Queries, wanted: TermQuery, part: Part): Promise<number[]>;
}
