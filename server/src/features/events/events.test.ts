import { once } from "node:events";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { EventSource, Agent } from "undici";
import { beforeEach, describe, expect, it } from "vitest";
import { fetchHandler } from "../../http/in-process.ts";
import { openTestApp } from "../../app.test-kit.ts";
import { openAgain, signUpWithPassword } from "../auth/accounts.test-kit.ts";
import { MAX_FEEDS } from "./open-feeds.ts";
import { addChange, type ReadBlock, readBlocks, takeIds } from "./feed.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const service = ofEachTest(() =>
  openTestApp({
    replace: ({ settings }) => ({
      settings: { ...settings, timing: { ...settings.timing, recheck: 10, idleBody: 20 } },
    }),
  }),
);
const account = ofEachTest(() => service.signUp());

interface Opened {
  readonly answer: Response;
  readonly blocks: AsyncGenerator<ReadBlock, void, undefined>;
  readonly leave: () => void;
}

type Fetch = (request: Request) => Promise<Response>;

async function open(
  query = "",
  headers: Record<string, string> = {},
  send: Fetch = fetchHandler(service.app),
): Promise<Opened> {
  const leaving = new AbortController();
  const base = service.app.server.listening ? service.app.listeningOrigin : "http://127.0.0.1";
  const answer = await send(
    new Request(`${base}/api/events${query}`, {
      headers: { authorization: `Bearer ${account.key}`, ...headers },
      signal: leaving.signal,
    }),
  );
  if (answer.body === null) throw new Error("no body");
  return { answer, blocks: readBlocks(answer.body), leave: () => leaving.abort() };
}

const change = (kind?: null) => addChange(service.deps.database, account.id, kind);

describe("[D6-event-feed] GET /api/events", () => {
  it("is a stream of events that nothing on the way keeps or holds back", async () => {
    const { answer, leave } = await open();
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe("text/event-stream");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("x-accel-buffering")).toBe("no");
    leave();
  });

  it("begins with now, where it says nothing else", async () => {
    await change();
    const { blocks, leave } = await open();
    const now = Number((await blocks.next()).value?.id);
    const next = await change();
    expect(next).toBe(now + 1);
    expect(await takeIds(blocks, 1)).toEqual([next]);
    leave();
  });

  it("begins after `after`; the id that a reader saw last wins", async () => {
    const first = await change();
    await change();
    await change();
    const after = await open(`?after=${first}`);
    expect(await takeIds(after.blocks, 2)).toEqual([first + 1, first + 2]);
    const again = await open(`?after=${first}`, { "last-event-id": String(first + 1) });
    expect(await takeIds(again.blocks, 1)).toEqual([first + 2]);
    after.leave();
    again.leave();
  });

  it.each([
    ["?after=-1", {}],
    ["?after=x", {}],
    ["?before=1", {}],
    ["", { "last-event-id": "x" }],
  ])("refuses what is no number: %s %j", async (query, headers) => {
    expect((await open(query, headers)).answer.status).toBe(400);
  });
});

describe("[D4-owner-only-feed] who may follow", () => {
  it("no key whose scopes lack it", async () => {
    const json = { name: "blind", scopes: ["files:read", "audit:read"] };
    const { body } = await service.ask("POST", "/api/auth/api-keys", { key: account.key, json });
    const { answer } = await open("", { authorization: `Bearer ${String(body["key"])}` });
    expect(answer.headers.get("x-error-code")).toBe("missing_scope");
  });

  it("a key that is limited to vaults, for what lies in them, and so may an agent that reads files", async () => {
    const { body: made } = await service.ask("GET", "/api/vaults", { key: account.key });
    const [vault] = made["vaults"] as { id: string }[];
    const json = { name: "limited", vaultIds: [vault?.id], scopes: ["files:read"] };
    const { body } = await service.ask("POST", "/api/auth/api-keys", { key: account.key, json });
    const { database } = service.deps;
    const keys = database.build.updateTable("api_keys").set({ chain_address: `0x${"7".repeat(64)}` });
    await database.run(keys.where("id", "=", String(body["id"])));
    const { blocks, leave } = await open("?after=0", { authorization: `Bearer ${String(body["key"])}` });
    await change();
    const folder = { vaultId: vault?.id, name: "seen" };
    await service.ask("POST", "/api/folders", { key: account.key, json: folder });
    const kinds: (string | null)[] = [];
    for await (const { event } of blocks) if (event !== null && kinds.push(event) === 2) break;
    expect(kinds).toEqual(["vault.created", "folder.created"]);
    leave();
  });

  it("a key with the scope and a session may, and only until they end", async () => {
    const json = { name: "listener", scopes: ["events:read"] };
    const { body } = await service.ask("POST", "/api/auth/api-keys", { key: account.key, json });
    const byKey = await open("", { authorization: `Bearer ${String(body["key"])}` });
    const { accessToken, refreshToken } = await signUpWithPassword(service);
    const bySession = await open("", { authorization: `Bearer ${accessToken}` });
    for (const { blocks } of [byKey, bySession]) expect((await blocks.next()).value?.retry).toBe("2000");
    await service.ask("DELETE", `/api/auth/api-keys/${String(body["id"])}`, { key: account.key });
    await service.ask("POST", "/api/auth/logout", { json: { refreshToken } });
    for (const { blocks } of [byKey, bySession]) await expect(readToEnd(blocks)).rejects.toThrow();
  });
});

async function readToEnd(blocks: AsyncIterable<ReadBlock>): Promise<number> {
  let events = 0;
  for await (const { data } of blocks) if (data !== null) events += 1;
  return events;
}

describe("feeds at once", () => {
  it("are bounded for each account, and one that ends makes room", async () => {
    const feeds = await Promise.all(Array.from({ length: MAX_FEEDS }, () => open()));
    expect(new Set(feeds.map(({ answer }) => answer.status))).toEqual(new Set([200]));
    const refused = await open();
    expect([refused.answer.status, refused.answer.headers.get("x-error-code")]).toEqual([429, "rate_limited"]);
    expect(Number(refused.answer.headers.get("retry-after"))).toBeGreaterThan(0);
    const other = await service.signUp();
    const theirs = await open("", { authorization: `Bearer ${other.key}` });
    expect(theirs.answer.status).toBe(200);
    feeds[0]?.leave();
    let room = await open();
    while (room.answer.status === 429) {
      await nextTurn();
      room = await open();
    }
    for (const feed of [...feeds, theirs, room]) feed.leave();
  });

  it("end in good order when the server stops", async () => {
    const { blocks } = await open();
    await blocks.next();
    const end = readToEnd(blocks);
    await service.app.close();
    expect(await end).toBe(0);
  });
});

describe("over a socket", () => {
  beforeEach(async () => {
    await service.app.listen({ host: "127.0.0.1", port: 0 });
  });

  it("loses and doubles nothing for a reader that comes back again and again while 200 changes are made", async () => {
    const start = await change();
    await using elsewhere = await openAgain(service);
    const writing = (async () => {
      for (let count = 0; count < 200; count += 1) {
        await addChange(count % 2 === 0 ? service.deps.database : elsewhere, account.id);
        if (count % 5 === 0) await nextTurn();
      }
    })();
    const seen: number[] = [start];
    for (let connections = 0; seen.length < 201; connections += 1) {
      const { blocks, leave } = await open("", { "last-event-id": String(seen.at(-1)) }, fetch);
      seen.push(...(await takeIds(blocks, Math.min(1 + (connections % 23), 201 - seen.length))));
      leave();
    }
    await writing;
    expect(seen).toEqual(Array.from({ length: 201 }, (_, index) => start + index));
  });

  it("that is quiet is not taken for a reader that takes nothing", async () => {
    const { blocks, leave } = await open("", {}, fetch);
    await blocks.next();
    await pause(100);
    const sequence = await change();
    expect(await takeIds(blocks, 1)).toEqual([sequence]);
    leave();
  });

  it("is what an EventSource follows, past a cut connection and without a first event", async () => {
    const dispatcher = new Agent().compose((dispatch) => (options, handler) => {
      const headers = { ...(options.headers as Record<string, string>), authorization: `Bearer ${account.key}` };
      return dispatch({ ...options, headers }, handler);
    });
    const source = new EventSource(`${service.app.listeningOrigin}/api/events`, { node: { dispatcher } });
    const seen: string[] = [];
    source.addEventListener("vault.created", (event) => seen.push((event as MessageEvent).lastEventId));
    await once(source, "open");
    const cut = once(source, "error");
    service.app.server.closeAllConnections();
    await cut;
    // Nobody is connected now.
    const expected = [await change(), await change()].map(String);
    while (seen.length < 2) await once(source, "vault.created");
    source.close();
    await dispatcher.close();
    expect(seen).toEqual(expected);
  });
});
