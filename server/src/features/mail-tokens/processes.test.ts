import { expect, it } from "vitest";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import { insertAccount } from "../../../../test/kit/rows.ts";
import { systemRandom } from "../../ports/random.ts";
import { openTestDatabase } from "../../storage.test-kit.ts";
import { mintMailToken } from "./rules.ts";
import { insertMailToken, useMailToken } from "./store.ts";

const ROUNDS = process.env["COFFER_TEST_COUNTS"] === "full" ? 200 : 10;

it("a mailed token serves one of 50 callers of two processes on one database [S5.5-tokens]", async () => {
  const directory = makeDirectory();
  await using one = await openTestDatabase(directory);
  await using other = await openTestDatabase(directory);
  const { accountId } = await insertAccount(one);
  for (let round = 0; round < ROUNDS; round += 1) {
    const { hash } = mintMailToken(systemRandom);
    const row = { hash, account_id: accountId, purpose: "reset" as const, email: "a@example.test", expires_at: 2 };
    await insertMailToken(one, row);
    const uses = Array.from({ length: 50 }, (_, at) =>
      (at % 2 === 0 ? one : other).transaction((transaction) =>
        transaction.first(useMailToken(transaction, { hash, purpose: "reset", now: 1 })),
      ),
    );
    expect((await Promise.all(uses)).filter((used) => used !== null)).toHaveLength(1);
  }
});
