/** What `client.search` takes and returns. */
import type { api } from "@coffer/contract";
import type { CallOptions } from "../connection/options.ts";
import type { ListQuery } from "../http/endpoint-types.ts";
import type { File } from "../storage/item-types.ts";

/** Input of `search` and `files.search`. */
export interface FileSearchQuery extends ListQuery<typeof api.files.search> {}

/** A file that was found. In shared vaults name, type, size, folder and authors are verified. */
export interface FoundFile extends Pick<
  File,
  | "id"
  | "versionId"
  | "revision"
  | "name"
  | "contentType"
  | "size"
  | "vaultId"
  | "folderId"
  | "createdAt"
  | "updatedAt"
  | "createdBy"
  | "updatedBy"
  | "trashedAt"
> {}

/** A vault that the answer says nothing of. */
export interface UnsearchedVault {
  /** UUID of the vault. */
  readonly vaultId: string;
  /** `unfinished`: its index is being built, and `nextCursor` goes on. Else the code of the error, such as `not_a_member`. */
  readonly reason: string;
}

/** What a page of `client.search` has beside its files. */
export interface FoundFacts {
  /** false: not all was looked at. Go on with `nextCursor`; if it is null, `unsearched` names what could not be looked at. */
  readonly complete: boolean;
  /** Vaults that are not in this answer, each with the reason. */
  readonly unsearched: readonly UnsearchedVault[];
  /** Files of shared vaults whose signed names do not verify. They are never found. */
  readonly unreadable: number;
}

/** For `client.search`. */
export interface NameSearchOptions extends CallOptions {
  /** true: sends no searched word to the service, and searches only shared vaults with encrypted names. Default: false. */
  readonly localOnly?: boolean | undefined;
  /** Milliseconds that one page may spend on building indexes. Default: 10,000. */
  readonly buildFor?: number | undefined;
}
