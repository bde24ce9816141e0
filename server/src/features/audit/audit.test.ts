import { createHash } from "node:crypto";
import { type AuditEvent, checkAuditChain } from "@coffer/contract";
import { describe, expect, it } from "vitest";
import { openTestApp } from "../../app.test-kit.ts";
import { noteChanges } from "../changes/changes.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const service = ofEachTest(openTestApp);
const owner = ofEachTest(() => service.signUp());

const ask = (query: string, key = owner.key) => service.ask("GET", `/api/audit-log${query}`, { key });
async function page(query: string): Promise<{ events: AuditEvent[]; nextCursor: string | null }> {
  const { status, body } = await ask(query);
  expect(status).toBe(200);
  return body as unknown as { events: AuditEvent[]; nextCursor: string | null };
}
/** All pages from `from` on. */
async function pages(query: string, from = ""): Promise<AuditEvent[]> {
  const events: AuditEvent[] = [];
  for (let cursor = from; ;) {
    const { events: found, nextCursor } = await page(`${query}${cursor}`);
    events.push(...found);
    if (nextCursor === null) return events;
    cursor = `&cursor=${encodeURIComponent(nextCursor)}`;
  }
}
const record = (action: string, occurredAt = service.clock.now(), accountId = owner.id) =>
  noteChanges(service.deps.database, accountId, [{ action, actor: null, target: { kind: "x", id: "x" }, occurredAt }]);
const sequencesOf = (events: readonly AuditEvent[]) => events.map(({ sequence }) => sequence);
const codeOf = ({ status, headers }: Awaited<ReturnType<typeof ask>>) => [status, headers["x-error-code"]];

describe("[D4-audit-log] GET /api/audit-log", () => {
  it("is newest first, a page at a time, whatever the clock did between the entries", async () => {
    for (let number = 0; number < 7; number += 1) await record("x.y", service.clock.now() - number * 1000);
    const all = (await page("")).events;
    expect(sequencesOf(all)).toEqual(all.map((_, index) => all.length - index));
    expect(await pages("?limit=3")).toEqual(all);
    expect(await pages(`?limit=${all.length}`)).toEqual(all);
    expect((await page(`?limit=${all.length}`)).nextCursor).toBeNull();
  });

  it("does not repeat or leave out entries when others are written between two pages", async () => {
    for (let number = 0; number < 5; number += 1) await record("x.y");
    const all = (await page("")).events;
    const first = await page("?limit=2");
    await record("x.z");
    const rest = await pages("?limit=2", `&cursor=${encodeURIComponent(String(first.nextCursor))}`);
    expect([...first.events, ...rest]).toEqual(all);
  });

  it("is a chain that whoever reads it can check", async () => {
    for (let number = 0; number < 5; number += 1) await record("x.y");
    const events = await pages("?limit=2");
    const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
    expect(await checkAuditChain(owner.id, events.toReversed(), sha256)).toMatchObject({ fault: null });
    const other = await service.signUp();
    expect((await checkAuditChain(other.id, events.toReversed(), sha256)).fault).not.toBeNull();
  });

  it("can be asked for one action, or for all that begin with a word", async () => {
    const actions = ["a_b.c", "a_b.d", "a_b", "a_bc.c", "axb.c", "a_b.c", "a.b"];
    for (const action of actions) await record(action);
    const actionsOf = async (action: string) => (await pages(`?limit=2&action=${action}`)).map((event) => event.action);
    expect(await actionsOf("a_b.c")).toEqual(["a_b.c", "a_b.c"]);
    expect(await actionsOf("a_b")).toEqual(["a_b.c", "a_b", "a_b.d", "a_b.c"]);
    expect(await actionsOf("a")).toEqual(["a.b"]);
    expect(await actionsOf("b")).toEqual([]);
    for (const odd of ["a.", ".a", "a%25", "A", "a.b.c", ""]) {
      expect(codeOf(await ask(`?action=${odd}`))).toEqual([400, "validation_failed"]);
    }
  });

  it("shows nothing of another account, and takes no cursor of another list", async () => {
    const other = await service.signUp();
    await record("x.y", service.clock.now(), other.id);
    expect((await page("?action=x")).events).toEqual([]);
    await service.ask("POST", "/api/folders", { key: owner.key, json: { name: "a" } });
    await service.ask("POST", "/api/folders", { key: owner.key, json: { name: "b" } });
    const { body } = await service.ask("GET", "/api/folders?limit=1", { key: owner.key });
    expect(codeOf(await ask(`?cursor=${encodeURIComponent(String(body["nextCursor"]))}`))).toEqual([
      ...[400, "validation_failed"],
    ]);
  });

  it("shows an altered row as it was found, instead of failing", async () => {
    const { database } = service.deps;
    await database.run(
      database.build
        .updateTable("changes")
        .set({ actor_json: "x", context_json: "{}" })
        .where("account_id", "=", owner.id),
    );
    const { events } = await page("");
    expect(events[0]).toMatchObject({ actor: { type: "unreadable: x" }, context: { requestId: "unreadable: {}" } });
  });
});
