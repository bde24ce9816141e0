import { expect, it } from "vitest";
import { ManualClock } from "../../../test/kit/clock.ts";
import { makeDirectory } from "../../../test/kit/directory.ts";
import { insertAccount } from "../../../test/kit/rows.ts";
import { openTestDatabase } from "../storage.test-kit.ts";
import { expireIdempotency } from "./expiry.ts";

it("answers kept for repeated requests go when their time is over", async () => {
  await using database = await openTestDatabase(makeDirectory());
  const clock = new ManualClock();
  const { accountId } = await insertAccount(database);
  const row = {
    account_id: accountId,
    fingerprint: "f",
    state: "done",
    resource: null,
    status: 201,
    headers_json: null,
    body: "{}",
    owner: "o",
    created_at: 0,
  };
  const rows = [5, 10, 15].map((minutes) => ({
    ...row,
    key: `key ${minutes}`,
    expires_at: clock.now() + minutes * 60_000,
  }));
  await database.run(database.build.insertInto("idempotency").values(rows));
  clock.advance(10 * 60_000);
  expect(await expireIdempotency({ database, clock }, new AbortController().signal)).toEqual({ expired: 2 });
});
