import { randomUUID } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { ON_POSTGRES } from "../../storage.test-kit.ts";
import { openTestApp } from "../../app.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";
import { noteChanges } from "../changes/changes.test-kit.ts";
import { removeEntries } from "../audit/store.ts";
import { actOn } from "../account/act.ts";
import { addMember, addPerson, agentOf, openSharedVault } from "../shared-vaults/vaults.test-kit.ts";
import { answerOf, contextOf, openTestService } from "../service.test-kit.ts";
import * as pages from "./change-page.ts";
import { changesHandlers } from "./changes.ts";
import { Heads } from "./heads.ts";
import { MAX_FEEDS, OpenFeeds } from "./open-feeds.ts";

const service = ofEachTest(() =>
  openTestApp({
    replace: ({ settings }) => ({ settings: { ...settings, timing: { ...settings.timing, recheck: 10 } } }),
  }),
);
const account = ofEachTest(() => service.signUp());

interface Row {
  readonly sequence: number;
  readonly kind: string;
  readonly actor: { readonly id: string | null };
  readonly object: { readonly id: string; readonly vaultId: string | null };
}

async function ask(query = "", key: string | undefined = account.key, expected = 200) {
  const answer = await service.ask("GET", `/api/changes${query}`, { key });
  expect([answer.status, query]).toEqual([expected, query]);
  const changes = (answer.body["changes"] ?? []) as Row[];
  return {
    answer,
    changes,
    nextCursor: answer.body["nextCursor"] as string | null,
    code: answer.headers["x-error-code"],
  };
}

const sequences = ({ changes }: { changes: readonly Row[] }): number[] => changes.map(({ sequence }) => sequence);

async function make(
  path: string,
  json: object,
  key = account.key,
): Promise<{ readonly id: string; readonly key: string }> {
  const { status, body } = await service.ask("POST", path, { key, json });
  expect([path, status]).toEqual([path, 201]);
  return (Object.values(body).find((value) => typeof value === "object" && value !== null && "id" in value) ??
    body) as { id: string; key: string };
}

/** Two vaults with a folder each, a key of the owner that made the second, and an agent's key for the first. */
async function fill() {
  const [first, second] = [
    (await make("/api/vaults", { name: "first", type: "public" })).id,
    (await make("/api/vaults", { name: "second", type: "public" })).id,
  ];
  const other = await make("/api/auth/api-keys", { name: "other" });
  const folder = (await make("/api/folders", { vaultId: first, name: "a" })).id;
  const inner = (await make("/api/folders", { vaultId: first, parentId: folder, name: "in" })).id;
  const foreign = (await make("/api/folders", { vaultId: second, name: "b" }, other.key)).id;
  return { first, second, other, folder, inner, foreign };
}

describe("[D6-change-list] GET /api/changes", () => {
  it("lists the rows of the audit log oldest first, as ids, in pages that meet without a gap", async () => {
    const { folder } = await fill();
    const all = await ask();
    const { body } = await service.ask("GET", "/api/audit-log", { key: account.key });
    const entries = (body["events"] as { sequence: number; action: string }[]).toReversed();
    expect(all.changes.map(({ sequence, kind }) => [sequence, kind])).toEqual(
      entries.map(({ sequence, action }) => [sequence, action]),
    );
    expect(all.nextCursor).toBeNull();
    const made = all.changes.find(({ object }) => object.id === folder);
    expect(Object.keys(made ?? {})).toEqual(["sequence", "id", "kind", "occurredAt", "actor", "object"]);
    expect(JSON.stringify(all.changes)).not.toContain('"name"');
    const paged: number[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const page = await ask(`?limit=2${cursor && `&cursor=${cursor}`}`);
      expect(page.changes.length).toBeLessThanOrEqual(2);
      paged.push(...sequences(page));
      cursor = page.nextCursor;
    }
    expect(paged).toEqual(sequences(all));
    expect(sequences(await ask(`?after=${String(paged.at(-2))}`))).toEqual(paged.slice(-1));
  });

  it("filters by actor, vault, folder, kind and time, and by all of them at once", async () => {
    const { first, second, other, folder, inner, foreign } = await fill();
    const idsOf = async (query: string) => (await ask(query)).changes.map(({ object }) => object.id);
    expect(await idsOf(`?by=${other.id}`)).toEqual([foreign]);
    expect(await idsOf(`?vaultId=${first}`)).toEqual([first, folder, inner]);
    expect(await idsOf(`?folderId=${folder}`)).toEqual([inner]);
    expect(await idsOf("?kind=folder.created")).toEqual([folder, inner, foreign]);
    expect(await idsOf("?kind=folder")).toEqual([folder, inner, foreign]);
    expect(await idsOf(`?kind=vault&by=${other.id}`)).toEqual([]);
    expect(await idsOf(`?kind=folder&vaultId=${second}&by=${other.id}`)).toEqual([foreign]);
    expect(await idsOf(`?by=0x${"9".repeat(64)}`)).toEqual([]);
  });

  it("finds the place of a time in a long log without reading it", async () => {
    const from = Date.UTC(2031, 0, 1);
    const step = 60_000;
    const changes = Array.from({ length: 3000 }, (_, count) => ({
      action: "file.uploaded",
      actor: null,
      occurredAt: from + count * step,
      target: { kind: "file", id: randomUUID(), vaultId: randomUUID() },
    }));
    const head = (await ask()).changes.length;
    await noteChanges(service.deps.database, account.id, changes);
    const time = (count: number): string => new Date(from + count * step).toISOString();
    const reading = vi.spyOn(service.deps.database, "all");
    const page = await ask(`?since=${time(2500)}&until=${time(2502)}`);
    expect(sequences(page)).toEqual([2501, 2502, 2503].map((count) => head + count));
    expect(page.nextCursor).toBeNull();
    const rows = await Promise.all(reading.mock.results.map(({ value }) => value as Promise<unknown[]>));
    expect(rows.flat().length).toBeLessThan(20);
    expect(sequences(await ask(`?since=${time(3001)}`))).toEqual([]);
  });

  it("reads a bounded number of rows for a page: one that found nothing so far is empty and has a next", async () => {
    const head = (await ask()).changes.length;
    const target = (vaultId: string) => ({ kind: "file", id: randomUUID(), vaultId });
    const [busy, quiet] = [randomUUID(), randomUUID()];
    const row = (vaultId: string, action = "file.uploaded") => ({
      action,
      actor: null,
      target: target(vaultId),
      occurredAt: 0,
    });
    await noteChanges(service.deps.database, account.id, [
      ...Array.from({ length: pages.SCANNED + 10 }, () => row(busy)),
      row(busy, "file.trashed"),
      row(quiet),
    ]);
    const first = await ask(`?vaultId=${busy}&kind=file.trashed`);
    expect([sequences(first), first.nextCursor === null]).toEqual([[], false]);
    const second = await ask(`?vaultId=${busy}&kind=file.trashed&cursor=${String(first.nextCursor)}`);
    expect([sequences(second), second.nextCursor]).toEqual([[head + pages.SCANNED + 11], null]);
    expect(sequences(await ask(`?vaultId=${quiet}`))).toEqual([head + pages.SCANNED + 12]);
  });
});

describe("[D6-change-rights] who sees which changes", () => {
  it("a key without its scope sees none; one with a limit sees its vaults and nothing of the account", async () => {
    const { first, second, folder, inner } = await fill();
    const blind = await make("/api/auth/api-keys", { name: "blind", scopes: ["files:read", "audit:read"] });
    expect((await ask("", blind.key, 403)).code).toBe("missing_scope");
    const limited = await make("/api/auth/api-keys", { name: "limited", vaultIds: [first] });
    expect((await ask("", limited.key)).changes.map(({ object }) => object.id)).toEqual([first, folder, inner]);
    expect(sequences(await ask("?kind=api_key", limited.key))).toEqual([]);
    for (const vaultId of [second, randomUUID()])
      expect((await ask(`?vaultId=${vaultId}`, limited.key, 404)).code).toBe("not_found");
  });

  it("an agent needs files:read and sees what lies in vaults: no sign-ins, keys or invites", async () => {
    const { first } = await fill();
    const agentWith = async (json: object) => {
      const key = await make("/api/auth/api-keys", { name: "agent", ...json });
      const { build } = service.deps.database;
      const chain_address = `0x${"7".repeat(64)}`;
      await service.deps.database.run(build.updateTable("api_keys").set({ chain_address }).where("id", "=", key.id));
      return key.key;
    };
    expect((await ask("", await agentWith({ scopes: ["folders:read"] }), 403)).code).toBe("missing_scope");
    const agent = await agentWith({ scopes: ["files:read"] });
    const { changes } = await ask("", agent);
    expect(changes.length).toBeGreaterThan(5);
    expect(new Set(changes.map(({ kind }) => kind))).toEqual(new Set(["vault.created", "folder.created"]));
    expect(sequences(await ask("?kind=api_key", agent))).toEqual([]);
    const limited = await agentWith({ scopes: ["files:read"], vaultIds: [first] });
    expect(new Set((await ask("", limited)).changes.map(({ object }) => object.vaultId))).toEqual(new Set([first]));
  });

  it("a member of another account sees the shared vault alone, and of its actors the addresses alone", async () => {
    await using chained = await openTestService();
    const [shared, hidden, member] = [
      await openSharedVault(chained),
      await openSharedVault(chained),
      await addPerson(chained),
    ];
    const parts = { ...chained, feeds: new OpenFeeds(), heads: new Heads(chained) };
    const { list } = changesHandlers(parts);
    const see = (query: object) => list({ query }, contextOf(member.principal));
    const { vaultId } = shared;
    await expect(see({ vaultId })).rejects.toMatchObject({ code: "not_found" });
    await addMember(chained, shared, member);
    const { accountId } = shared.owner.principal;
    const agent = agentOf(shared.owner);
    const target = { kind: "file", id: randomUUID(), vaultId };
    await actOn(chained, accountId, (act) => act.record({ action: "file.trashed", actor: agent.principal, target }));
    const { changes } = answerOf(await see({ vaultId }));
    expect(changes.at(-1)).toMatchObject({
      kind: "file.trashed",
      actor: { id: null, chainAddress: agent.chainAddress },
    });
    expect(new Set(changes.map(({ object }) => object.vaultId))).toEqual(new Set([vaultId]));
    await expect(see({ vaultId: hidden.vaultId })).rejects.toMatchObject({ code: "not_found" });
    chained.chain.remove(shared.objectId, member.chainAddress);
    chained.clock.advance(10_001);
    await expect(see({ vaultId })).rejects.toMatchObject({ code: "not_a_member" });
  });

  it("nobody sees another account's changes, by vault or by cursor", async () => {
    const { first } = await fill();
    const other = await service.signUp();
    expect((await ask(`?vaultId=${first}`, other.key, 404)).code).toBe("not_found");
    const { nextCursor } = await ask("?wait=0");
    expect((await ask(`?cursor=${String(nextCursor)}`, other.key, 400)).code).toBe("validation_failed");
  });
});

describe("[D6-change-gaps] a gap is impossible:", () => {
  it("a place that the retention went past answers cursor_expired, and one at its edge goes on", async () => {
    const kept = await ask("?limit=3&wait=0");
    await fill();
    const { build } = service.deps.database;
    const row = await service.deps.database.first(build.selectFrom("changes").selectAll().where("sequence", "=", 3));
    const remove = (sequence: number) =>
      service.deps.database.transaction((transaction) =>
        removeEntries(transaction, { account_id: account.id, sequence, hash: row?.hash ?? "" }),
      );
    await remove(3);
    expect((await ask("?after=2", account.key, 410)).code).toBe("cursor_expired");
    expect(sequences(await ask("?after=3"))[0]).toBe(4);
    expect(sequences(await ask())[0]).toBe(4);
    await remove(8);
    expect((await ask(`?cursor=${String(kept.nextCursor)}`, account.key, 410)).code).toBe("cursor_expired");
  });

  it("so does a place that the log does not have: the service was restored from an older backup", async () => {
    const { nextCursor } = await ask("?wait=0");
    expect((await ask("?after=999", account.key, 410)).code).toBe("cursor_expired");
    const { build } = service.deps.database;
    await service.deps.database.run(
      build.updateTable("changes").set({ id: randomUUID() }).where("account_id", "=", account.id),
    );
    expect((await ask(`?cursor=${String(nextCursor)}`, account.key, 410)).code).toBe("cursor_expired");
  });

  it("rows that the retention removes while a page is read are missed by nobody", async () => {
    await fill();
    const reading = vi.spyOn(pages, "readChanges");
    reading.mockImplementationOnce(async (queries, filter, range) => {
      await service.deps.database.transaction((transaction) =>
        removeEntries(transaction, { account_id: account.id, sequence: 4, hash: "0".repeat(64) }),
      );
      reading.mockRestore();
      return pages.readChanges(queries, filter, range);
    });
    expect((await ask("?after=1", account.key, 410)).code).toBe("cursor_expired");
  });
});

/** The clock of the service goes on until there is an answer. */
async function whileTimePasses<Answer>(answer: Promise<Answer>): Promise<Answer> {
  let isOver = false;
  const over = answer.finally(() => (isOver = true));
  while (!isOver) {
    await nextTurn();
    service.clock.advance(1_000);
  }
  return over;
}

describe("[D6-change-wait] waiting for a change", () => {
  it("ends with the first change that fits, and always has a cursor to go on from", async () => {
    const start = await ask("?wait=0");
    const { nextCursor } = await ask(`?wait=0&cursor=${String(start.nextCursor)}`);
    const waiting = ask(`?wait=50&kind=folder&cursor=${String(nextCursor)}`);
    await nextTurn();
    const { folder, inner } = await fill();
    const { changes, nextCursor: after } = await waiting;
    expect(changes[0]?.object.id).toBe(folder);
    const rest = await ask(`?kind=folder&cursor=${String(after)}`);
    expect([...changes, ...rest.changes].map(({ object }) => object.id)).toContain(inner);
  });

  it("ends when its time is over, and with the credential", async () => {
    const { nextCursor } = await ask("?wait=0");
    const ending = ask(`?wait=20&cursor=${String(nextCursor)}`);
    const over = await whileTimePasses(ending);
    expect([over.changes, over.nextCursor]).toEqual([[], nextCursor]);
    const listener = await make("/api/auth/api-keys", { name: "listener", scopes: ["events:read"] });
    const head = (await ask("?wait=0")).nextCursor;
    const waiting = ask(`?wait=50&kind=webhook&cursor=${String(head)}`, listener.key, 401);
    await nextTurn();
    await service.ask("DELETE", `/api/auth/api-keys/${listener.id}`, { key: account.key });
    expect((await waiting).code).toBe("invalid_credential");
  });

  it("is bounded: so many at once for an account, and 50 seconds", async () => {
    expect((await ask("?wait=51", account.key, 400)).code).toBe("validation_failed");
    const cursor = String((await ask("?wait=0")).nextCursor);
    const waiting = Array.from({ length: MAX_FEEDS }, () => ask(`?wait=50&kind=webhook&cursor=${cursor}`));
    for (let turns = 0; turns < (ON_POSTGRES ? 5_000 : 50); turns += 1) await nextTurn();
    expect((await ask(`?wait=1&cursor=${cursor}`, account.key, 429)).code).toBe("rate_limited");
    await service.app.close();
    expect(new Set((await Promise.all(waiting)).map(({ changes }) => changes.length))).toEqual(new Set([0]));
  });
});
