/** What is to happen once happens once, when many ask two server processes on one PostgreSQL for it at the same moment. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createDatabase } from "../../../test/kit/postgres/databases.ts";
import { signUp } from "../../../test/kit/signed-up.ts";
import { type Fleet, openFleet } from "../../../test/crash/accounts/fleet.ts";
import { openRowReader, type RowReader } from "../../../test/crash/row-reader.ts";
import { claimOf, newSigner } from "../features/invites/invites.test-kit.ts";
import { addSession } from "../features/sessions/sessions.test-kit.ts";
import { openDatabase } from "../storage.ts";
import { openTestApp, type TestApp } from "../app.test-kit.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
const TIMES = FULL ? 200 : 10;
const REDEEMERS = FULL ? 100 : 12;
const REFRESHERS = 50;
const WRITERS = 20;
const WEBHOOKS = 7;
/** How many of a race's files fit, and their size. */
const FILES = 7;
const FILE_BYTES = 100_000;
const RATE = "10000000";
const ENVIRONMENT = {
  SERVICE_RATE_REFRESH: RATE,
  SERVICE_RATE_ANONYMOUS: RATE,
  SERVICE_RATE_GENERAL: RATE,
  SERVICE_RATE_GENERAL_BURST: RATE,
  SERVICE_MAX_WEBHOOKS: String(WEBHOOKS),
  SERVICE_RATE_SIGNUP: RATE,
  SERVICE_PRO_STORAGE_BYTES: String(FILES * FILE_BYTES + 1),
};

const opened = new AsyncDisposableStack();
let fleet: Fleet;
let rows: RowReader;
/** On the same rows, to make sessions without the cost of a password each. */
let app: TestApp;

beforeAll(async () => {
  const { url } = opened.use(await createDatabase());
  fleet = opened.use(await openFleet(2, url, ENVIRONMENT));
  rows = opened.use(openRowReader(fleet.directory));
  const address = { kind: "postgres", url, directUrl: url, connections: 4, sessions: true } as const;
  const database = opened.use(await openDatabase({ database: address }));
  app = opened.use(await openTestApp({ replace: () => ({ database }) }));
});
afterAll(async () => {
  const { faults } = fleet;
  await opened.disposeAsync();
  expect(faults).toEqual([]);
});

interface Answered {
  readonly outcome: string;
  readonly body: Readonly<Record<string, unknown>>;
}

async function post(address: string, path: string, json: unknown, key = ""): Promise<Answered> {
  const headers = { "content-type": "application/json", ...(key === "" ? {} : { authorization: `Bearer ${key}` }) };
  const answer = await fetch(address + path, { method: "POST", headers, body: JSON.stringify(json) });
  const body = (await answer.json()) as Answered["body"];
  return { outcome: answer.ok ? "done" : (answer.headers.get("x-error-code") ?? String(answer.status)), body };
}

/** Each of them asks one process or the other. */
function atOnce(count: number, ask: (address: string, number: number) => Promise<Answered>): Promise<Answered[]> {
  const { addresses } = fleet;
  expect(addresses).toHaveLength(2);
  return Promise.all(Array.from({ length: count }, (_, at) => ask(addresses[at % 2] ?? "", at)));
}

function tally(answers: readonly Answered[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { outcome } of answers) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return Object.fromEntries(counts);
}

async function count(text: string, ...values: readonly string[]): Promise<number> {
  return Number((await rows.all(`select count(*) as count from ${text}`, ...values))[0]?.["count"]);
}

it(`one refresh token, ${String(REFRESHERS)} times at once, mints once and ends its family (${String(TIMES)} times) [issue-20]`, async () => {
  for (let time = 0; time < TIMES; time += 1) {
    const { refreshToken, sessionId } = await addSession(app.deps);
    const answers = await atOnce(REFRESHERS, (address) => post(address, "/api/auth/refresh", { refreshToken }));
    expect(tally(answers)).toEqual({ done: 1, session_ended: REFRESHERS - 1 });
    const minted = answers.find(({ outcome }) => outcome === "done")?.body["refreshToken"];
    expect(tally(await atOnce(2, (address) => post(address, "/api/auth/refresh", { refreshToken: minted })))).toEqual({
      session_ended: 2,
    });
    expect(await count("refresh_tokens where session_id = ?", sessionId)).toBe(2);
  }
});

it(`one invite, redeemed by ${String(REDEEMERS)} at once, makes one key (${String(TIMES)} times) [issue-20]`, async () => {
  const { key } = await signUp(fleet.addresses[0] ?? "");
  const signers = Array.from({ length: REDEEMERS }, newSigner);
  for (let time = 0; time < TIMES; time += 1) {
    const wanted = { name: "agent", scopes: ["files:read"] };
    const { id, code } = (await post(fleet.addresses[time % 2] ?? "", "/api/auth/invites", wanted, key)).body;
    const answers = await atOnce(REDEEMERS, (origin, at) => {
      const claim = claimOf(signers[at] ?? newSigner(), String(code), Date.now(), { origin, network: "localnet" });
      return post(origin, "/api/auth/invites/redeem", claim);
    });
    expect(tally(answers)).toEqual({ done: 1, invite_ended: REDEEMERS - 1 });
    const made = "changes where action = 'api_key.created' and actor_json like ?";
    expect(await count(made, `%${String(id)}%`)).toBe(1);
  }
});

it(`one name, given ${String(WRITERS)} times at once, is given once (${String(TIMES)} times) [issue-20]`, async () => {
  const { key, client } = await signUp(fleet.addresses[0] ?? "");
  const vaultId = (await client.vaults.list()).vaults[0]?.id;
  for (let time = 0; time < TIMES; time += 1) {
    const name = randomUUID();
    const answers = await atOnce(WRITERS, (address) => post(address, "/api/folders", { vaultId, name }, key));
    expect(tally(answers)).toEqual({ done: 1, name_exists: WRITERS - 1 });
  }
});

it(`a limit of ${String(WEBHOOKS)}, met by ${String(WRITERS)} at once, is kept to (${String(TIMES)} times) [issue-20]`, async () => {
  for (let time = 0; time < TIMES; time += 1) {
    const { key } = await signUp(fleet.addresses[time % 2] ?? "");
    const wanted = { url: "http://127.0.0.1:9/", events: ["*"] };
    const answers = await atOnce(WRITERS, (address) => post(address, "/api/webhooks", wanted, key));
    expect(answers.filter(({ outcome }) => outcome === "done")).toHaveLength(WEBHOOKS);
  }
});

it(`a quota of ${String(FILES)} files, met by ${String(WRITERS)} at once, is kept to, and used (${String(TIMES)} times) [issue-20]`, async () => {
  const body = new Uint8Array(FILE_BYTES);
  const store = async (address: string, key: string, name: string): Promise<Answered> => {
    const headers = { "content-type": "application/octet-stream", authorization: `Bearer ${key}` };
    const answer = await fetch(`${address}/api/files?name=${name}`, { method: "POST", headers, body });
    const told = (await answer.json()) as Answered["body"];
    return { outcome: answer.ok ? "done" : (answer.headers.get("x-error-code") ?? String(answer.status)), body: told };
  };
  for (let time = 0; time < TIMES; time += 1) {
    const { key, client } = await signUp(fleet.addresses[time % 2] ?? "");
    const answers = await atOnce(WRITERS, (address, at) => store(address, key, String(at)));
    expect(tally(answers)).toEqual({ done: FILES, storage_quota: WRITERS - FILES });
    const { account } = await client.account.get();
    expect(account.usage).toMatchObject({ bytes: FILES * FILE_BYTES, files: FILES });
    expect(await count("upload_holds where account_id = ?", account.id)).toBe(0);
  }
});

it(`one Idempotency-Key, sent ${String(WRITERS)} times at once, acts once (${String(TIMES)} times) [issue-20]`, async () => {
  const { key, client } = await signUp(fleet.addresses[0] ?? "");
  const vaultId = (await client.vaults.list()).vaults[0]?.id;
  for (let time = 0; time < TIMES; time += 1) {
    const name = randomUUID();
    const headers = {
      "content-type": "application/json",
      authorization: `Bearer ${key}`,
      "idempotency-key": randomUUID(),
    };
    const answers = await atOnce(WRITERS, async (address) => {
      const answer = await fetch(`${address}/api/folders`, {
        method: "POST",
        headers,
        body: JSON.stringify({ vaultId, name }),
      });
      return { outcome: String(answer.status), body: (await answer.json()) as Answered["body"] };
    });
    // One that asks while the first is at it is told so, or gets the same answer later.
    const done = answers.filter(({ outcome }) => outcome === "201");
    expect(done.length).toBeGreaterThan(0);
    expect(new Set(done.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(answers.filter(({ outcome }) => outcome !== "201" && outcome !== "409")).toEqual([]);
    expect(await count("folders where name = ?", name)).toBe(1);
  }
});
