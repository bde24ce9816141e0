import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { openTestDatabase } from "../../storage.test-kit.ts";
import type { Principal } from "../../handler.ts";
import type { Database } from "../../ports/database.ts";
import { openTestLog } from "../audit/log.test-kit.ts";
import { toAuditEvent } from "./events.ts";
import { type Change, listChangesAfter } from "./store.ts";
import { noteChanges } from "./changes.test-kit.ts";
import { actOn } from "../account/act.ts";
import { systemClock } from "../../ports/clock.ts";
import { systemRandom } from "../../ports/random.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const log = ofEachTest(openTestLog);

const origin = { requestId: "r-1", address: "192.0.2.1", userAgent: "test/1" };
const context = { requestId: "r-1", location: "192.0.2.1", userAgent: "test/1" };
const chainAddress = `0x${"a".repeat(64)}`;
const id = randomUUID();
const principal: Principal = {
  kind: "api-key",
  accountId: "",
  keyId: id,
  sessionId: null,
  name: "n",
  accessLevel: "agent",
  scopes: null,
  vaultIds: null,
  chainAddress,
  expiresAt: null,
  budgets: [],
  origin,
};

function record(more: Partial<Change> = {}, database: Database = log.database): Promise<number> {
  const change: Change = {
    accountId: log.accountId,
    action: "file.uploaded",
    actor: null,
    target: { kind: "file", id: "f" },
    occurredAt: Date.UTC(2026, 0, 1),
    id: randomUUID(),
    ...more,
  };
  return noteChanges(database, change.accountId, [change]);
}

const events = async () =>
  (await listChangesAfter(log.database, { accountId: log.accountId, after: 0, limit: 500 })).map(toAuditEvent);

describe("[D1-changes-row D1-changes-audit] a recorded change", () => {
  it("says who did it: key, session, development access, holder of an invite, the service", async () => {
    await record({ actor: principal });
    await record({ actor: { ...principal, kind: "session", keyId: null, sessionId: id, accessLevel: "owner" } });
    await record({ actor: { ...principal, kind: "development", keyId: null, chainAddress: null } });
    await record({ actor: { kind: "invite", inviteId: id, chainAddress }, origin });
    await record();
    expect((await events()).map(({ actor }) => actor)).toEqual([
      { type: "api-key", id, accessLevel: "agent", chainAddress },
      { type: "session", id, accessLevel: "owner", chainAddress },
      { type: "development", id: null, accessLevel: "agent", chainAddress: null },
      { type: "invite", id, accessLevel: null, chainAddress },
      { type: "system", id: null, accessLevel: null, chainAddress: null },
    ]);
  });

  it("says from where: the caller's own request, or the one that was given, or none", async () => {
    await record({ actor: { ...principal, accountId: log.accountId } });
    await record({ actor: { kind: "invite", inviteId: id, chainAddress }, origin });
    await record({ origin });
    await record();
    const none = { requestId: null, location: null, userAgent: null };
    expect((await events()).map((event) => event.context)).toEqual([context, context, context, none]);
  });

  it("does not tell one account from where a member of another works", async () => {
    await record({ actor: { ...principal, accountId: randomUUID() } });
    const [event] = await events();
    expect(event?.context).toEqual({ requestId: "r-1", location: null, userAgent: null });
    expect(event?.actor).toEqual({ type: "api-key", id, accessLevel: "agent", chainAddress });
  });

  it("names the vault of its target where there is one", async () => {
    await record();
    await record({ target: { kind: "file", id: "f", vaultId: id } });
    expect((await events()).map(({ targets }) => targets)).toEqual([
      [{ type: "file", id: "f" }],
      [{ type: "file", id: "f", vaultId: id }],
    ]);
  });

  it("survives whatever text stands in what comes from outside", async () => {
    const userAgent = '"\\\u0000\ud800\u2028💾';
    await record({ origin: { ...origin, userAgent } });
    expect((await events())[0]?.context.userAgent).toBe(userAgent);
    expect((await log.check()).fault).toBeNull();
  });

  it("belongs to its act: what is rolled back leaves no entry and no gap", async () => {
    await record();
    const deps = { database: log.database, clock: systemClock, random: systemRandom };
    const failing = actOn(deps, log.accountId, async (act) => {
      await act.record({ action: "x", actor: null, target: { kind: "file", id: "f" } });
      throw new Error("rolled back");
    });
    await expect(failing).rejects.toThrow("rolled back");
    expect(await record()).toBe(2);
    expect(await log.check()).toMatchObject({ entries: 2, fault: null });
  });

  it("needs an account", async () => {
    await expect(record({ accountId: randomUUID() })).rejects.toMatchObject({ code: "invalid_credential" });
  });

  it("of 50 at the same time, over two connections, makes one chain", async () => {
    await using second = await openTestDatabase(log.directory);
    const places = await Promise.all(
      Array.from({ length: 50 }, (_, index) => record({}, index % 2 === 0 ? log.database : second)),
    );
    expect(places.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
    expect(await log.check()).toMatchObject({ entries: 50, fault: null, head: { sequence: 50 } });
  });

  it("of two accounts at the same time makes two chains", async () => {
    const other = await log.addAccount();
    const accounts = [log.accountId, other];
    await Promise.all(Array.from({ length: 40 }, (_, index) => record({ accountId: accounts[index % 2] ?? other })));
    for (const accountId of accounts) expect(await log.check(accountId)).toMatchObject({ entries: 20, fault: null });
  });
});
