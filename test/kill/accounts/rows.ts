/** What the database says of accounts, read beside the processes that write to it. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { State, Thing } from "./model.ts";

export interface AccountRows {
  readonly usageBytes: number;
  readonly usageFiles: number;
  readonly sequence: number;
  readonly lowest: number;
  readonly highest: number;
  readonly changes: number;
}

type Row = Readonly<Record<string, string | number | null>>;

export class Rows implements Disposable {
  readonly #database: DatabaseSync;

  constructor(directory: string) {
    this.#database = new DatabaseSync(join(directory, "coffer.sqlite"), { readOnly: true, timeout: 10_000 });
  }

  /** The account's things whose names begin so. */
  state(accountId: string, prefix: string): State {
    const of = (table: string, columns: string): Row[] =>
      this.#all(`select ${columns} from ${table} where account_id = ? and name like ? || '%'`, accountId, prefix);
    const ended = (kind: "key" | "invite", table: string): Thing[] =>
      of(table, "id, name, revoked_at").map((row) => ({ kind, ...named(row), ended: row["revoked_at"] !== null }));
    return [
      ...of("files", "id, name, folder_id, size, sha256, trashed_at").map((row): Thing => ({
        ...{ kind: "file", ...named(row), folderId: row["folder_id"] === null ? null : String(row["folder_id"]) },
        ...{ size: Number(row["size"]), sha256: String(row["sha256"]), trashed: row["trashed_at"] !== null },
      })),
      ...of("folders", "id, name").map((row): Thing => ({ kind: "folder", ...named(row) })),
      ...ended("key", "api_keys"),
      ...ended("invite", "invites"),
    ];
  }

  account(accountId: string): AccountRows {
    const [row] = this.#all(
      `select usage_bytes - usage_version_bytes as usage_bytes, usage_files, accounts.sequence as sequence, min(changes.sequence) as lowest,
        max(changes.sequence) as highest, count(*) as changes
        from accounts join changes on changes.account_id = accounts.id where accounts.id = ?`,
      accountId,
    );
    const number = (column: string): number => Number(row?.[column]);
    return {
      ...{ usageBytes: number("usage_bytes"), usageFiles: number("usage_files"), sequence: number("sequence") },
      ...{ lowest: number("lowest"), highest: number("highest"), changes: number("changes") },
    };
  }

  /** How often the audit log has each action, after the entry with this number. */
  actions(accountId: string, after: number): ReadonlyMap<string, number> {
    const rows = this.#all(
      "select action, count(*) as times from changes where account_id = ? and sequence > ? group by action",
      ...[accountId, after],
    );
    return new Map(rows.map(({ action, times }) => [String(action), Number(times)]));
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  #all(query: string, ...values: (string | number)[]): Row[] {
    return this.#database.prepare(query).all(...values) as Row[];
  }
}

function named(row: Row): { id: string; name: string } {
  return { id: String(row["id"]), name: String(row["name"]) };
}
