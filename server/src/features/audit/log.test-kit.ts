/** TEST ONLY: a database with accounts whose logs can be written as the service does it, and altered behind its back. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { insertAccount } from "../../../../test/kit/rows.ts";
import type { Database } from "../../ports/database.ts";
import { systemRandom } from "../../ports/random.ts";
import { alterTestDatabase, openTestDatabase, readTestDatabase } from "../../storage.test-kit.ts";
import { noteChanges } from "../changes/changes.test-kit.ts";
import { type AccountCheck, verifyAccount } from "./verify.ts";

export interface TestLog extends AsyncDisposable {
  readonly database: Database;
  readonly directory: string;
  readonly accountId: string;
  addAccount(): Promise<string>;
  /** Records that many changes; the first occurred at `from`, each later one `step` milliseconds (1) after the one before. */
  record(count: number, more?: { accountId?: string; from?: number; step?: number }): Promise<void>;
  /** What somebody with the file and without the service can do, foreign keys aside. */
  alter(sql: string, ...values: (string | number)[]): Promise<void>;
  check(accountId?: string): Promise<AccountCheck>;
}

export const TEST_TIME = Date.UTC(2026, 0, 1);

export async function openTestLog(): Promise<TestLog> {
  const directory = mkdtempSync(join(tmpdir(), "coffer-audit-"));
  const database = await openTestDatabase(directory);
  const addAccount = async (): Promise<string> => (await insertAccount(database)).accountId;
  const accountId = await addAccount();
  return {
    database,
    directory,
    accountId,
    addAccount,
    async record(count, more = {}) {
      const { from = TEST_TIME, step = 1 } = more;
      const changes = Array.from({ length: count }, (_, number) => change(from + number * step));
      await noteChanges(database, more.accountId ?? accountId, changes);
    },
    alter: (text, ...values) => alterTestDatabase(directory, text, values),
    async check(id = accountId) {
      await using reader = readTestDatabase(directory);
      const check = await reader.snapshot((queries) => verifyAccount(queries, id));
      if (check === null) throw new Error("no such account");
      return check;
    },
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function change(occurredAt: number) {
  const target = { kind: "file", id: systemRandom.uuid(), vaultId: systemRandom.uuid() };
  return { action: "file.uploaded", actor: null, target, occurredAt };
}
