/** What the database says of accounts, read beside the processes that write to it. */
import { openRowReader, type Row, type RowReader } from "../row-reader.ts";
import type { State, Thing } from "./model.ts";

export interface AccountRows {
  readonly usageBytes: number;
  readonly usageFiles: number;
  readonly sequence: number;
  readonly lowest: number;
  readonly highest: number;
  readonly changes: number;
}

export class Rows implements AsyncDisposable {
  readonly #reader: RowReader;

  constructor(directory: string) {
    this.#reader = openRowReader(directory);
  }

  /** The account's things whose names begin so, once what was asked for before is over. */
  async state(accountId: string, prefix: string): Promise<State> {
    await this.#reader.settle();
    const of = (table: string, columns: string): Promise<Row[]> =>
      this.#reader.all(`select ${columns} from ${table} where account_id = ? and name like ?`, accountId, `${prefix}%`);
    const ended = async (kind: "key" | "invite", table: string): Promise<Thing[]> =>
      (await of(table, "id, name, revoked_at")).map((row) => ({
        kind,
        ...named(row),
        ended: row["revoked_at"] !== null,
      }));
    const [files, folders] = [
      await of("files", "id, name, folder_id, size, sha256, trashed_at"),
      await of("folders", "id, name"),
    ];
    return [
      ...files.map((row): Thing => ({
        kind: "file",
        ...named(row),
        folderId: row["folder_id"] === null ? null : String(row["folder_id"]),
        size: Number(row["size"]),
        sha256: String(row["sha256"]),
        trashed: row["trashed_at"] !== null,
      })),
      ...folders.map((row): Thing => ({ kind: "folder", ...named(row) })),
      ...(await ended("key", "api_keys")),
      ...(await ended("invite", "invites")),
    ];
  }

  async account(accountId: string): Promise<AccountRows> {
    const [row] = await this.#reader.all(
      `select usage_bytes - usage_version_bytes as usage_bytes, usage_files, accounts.sequence as sequence, min(changes.sequence) as lowest,
        max(changes.sequence) as highest, count(*) as changes
        from accounts join changes on changes.account_id = accounts.id where accounts.id = ? group by accounts.id`,
      accountId,
    );
    const number = (column: string): number => Number(row?.[column]);
    return {
      usageBytes: number("usage_bytes"),
      usageFiles: number("usage_files"),
      sequence: number("sequence"),
      lowest: number("lowest"),
      highest: number("highest"),
      changes: number("changes"),
    };
  }

  /** How often the audit log has each action, after the entry with this number. */
  async actions(accountId: string, after: number): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#reader.all(
      "select action, count(*) as times from changes where account_id = ? and sequence > ? group by action",
      ...[accountId, after],
    );
    return new Map(rows.map(({ action, times }) => [String(action), Number(times)]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader[Symbol.asyncDispose]();
  }
}

function named(row: Row): { id: string; name: string } {
  return { id: String(row["id"]), name: String(row["name"]) };
}
