import { describe, expect, it } from "vitest";
import { openTestApp } from "../app.test-kit.ts";
import { ofEachTest } from "../each.test-kit.ts";

const DAY = 24 * 3_600_000;

const test = ofEachTest(openTestApp);
const owner = ofEachTest(() => test.signUp());

const makeKey = () => test.newKey(owner.key, { expiresInDays: 1 });

const statusOf = async (key: string): Promise<number> => (await test.ask("GET", "/api/account", { key })).status;

describe("a key that was refused for its age", () => {
  it("stays refused when the clock is set back, here at once and for others once it is written down", async () => {
    const { id, key } = await makeKey();
    test.clock.advance(DAY - 1);
    expect(await statusOf(key)).toBe(200);
    test.clock.advance(1);
    expect(await statusOf(key)).toBe(401);
    test.clock.advance(-DAY);
    expect(await statusOf(key)).toBe(401);
    await test.app.close();
    const { database } = test.deps;
    const row = await database.first(database.build.selectFrom("api_keys").selectAll().where("id", "=", id));
    expect(row?.revoked_at).toBe(row?.expires_at);
  });

  it("is listed as expired, and as revoked by nobody", async () => {
    const { id, key } = await makeKey();
    test.clock.advance(DAY);
    expect(await statusOf(key)).toBe(401);
    const { database } = test.deps;
    const mark = database.build.updateTable("api_keys").set((row) => ({ revoked_at: row.ref("expires_at") }));
    await database.transaction((transaction) => transaction.run(mark.where("id", "=", id)));
    const { body } = await test.ask("GET", `/api/auth/api-keys/${id}`, { key: owner.key });
    expect(body["apiKey"]).toMatchObject({ revokedAt: null });
  });

  it("is another than one that merely has not been asked for: a clock that ran ahead ends nobody's unused key", async () => {
    const { key } = await makeKey();
    test.clock.advance(DAY);
    test.clock.advance(-DAY);
    expect(await statusOf(key)).toBe(200);
  });
});
