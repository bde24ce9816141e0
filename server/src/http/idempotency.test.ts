import { api } from "@coffer/contract";
import { describe, expect, it } from "vitest";
import type { Deps } from "../deps.ts";
import { openTestApp, type TestApp } from "../app.test-kit.ts";
import { releaseEnded } from "../ports/leases.ts";
import { createIdempotency, type Outcome, type Reservation } from "./idempotency.ts";
import { ofEachTest } from "../each.test-kit.ts";

const service = ofEachTest(openTestApp);

const PAYLOAD = { method: "POST", url: "/api/vaults", body: "{}", rights: "[]" };
const ANSWER = { status: 201, headers: { Location: "/api/vaults/1" }, body: '{"vault":{}}' };
const ENDPOINT = api.vaults.create;

function reservationIn(outcome: Outcome): Reservation {
  if (outcome.kind !== "reserved") throw new Error("the key was not free");
  return outcome.reservation;
}

async function completeAlone({ database }: Deps, reservation: Reservation): Promise<void> {
  await database.transaction((transaction) => reservation.complete(transaction, ANSWER));
}

function countVaults(service: TestApp, key: string): Promise<number> {
  return service.ask("GET", "/api/vaults", { key }).then(({ body }) => (body["vaults"] as unknown[]).length);
}

describe("a reservation", () => {
  it("is replayed once it is complete, and in progress until then [D1-idempotency-repeat D1-idempotency-running]", async () => {
    const keys = createIdempotency(service.deps);
    const reservation = reservationIn(await keys.reserve(ENDPOINT, "a", "k", PAYLOAD));
    await expect(keys.reserve(ENDPOINT, "a", "k", PAYLOAD)).rejects.toMatchObject({ code: "idempotency_in_progress" });
    await completeAlone(service.deps, reservation);
    const outcome = await keys.reserve(ENDPOINT, "a", "k", PAYLOAD);
    expect(outcome).toMatchObject({ kind: "replay", answer: { status: 201, body: ANSWER.body } });
  });

  it("belongs to one payload and one account [D1-idempotency-fingerprint]", async () => {
    const keys = createIdempotency(service.deps);
    await keys.reserve(ENDPOINT, "a", "k", PAYLOAD);
    await expect(keys.reserve(ENDPOINT, "a", "k", { ...PAYLOAD, body: '{"x":1}' })).rejects.toMatchObject({
      code: "idempotency_mismatch",
    });
    expect((await keys.reserve(ENDPOINT, "b", "k", PAYLOAD)).kind).toBe("reserved");
  });

  it("is free again after a failure, and 24 hours after a success [D1-idempotency-24h]", async () => {
    const keys = createIdempotency(service.deps);
    await reservationIn(await keys.reserve(ENDPOINT, "a", "k", PAYLOAD)).end("failed");
    const second = reservationIn(await keys.reserve(ENDPOINT, "a", "k", PAYLOAD));
    await completeAlone(service.deps, second);
    await second.end("answered");
    service.clock.advance(24 * 3_600_000 - 1);
    expect((await keys.reserve(ENDPOINT, "a", "k", PAYLOAD)).kind).toBe("replay");
    service.clock.advance(1);
    expect((await keys.reserve(ENDPOINT, "a", "k", PAYLOAD)).kind).toBe("reserved");
  });

  it("of a process that died is taken over, and the dead one could not commit any more", async () => {
    const dead = reservationIn(await createIdempotency(service.deps).reserve(ENDPOINT, "a", "k", PAYLOAD));
    const living = createIdempotency(service.deps);
    await expect(living.reserve(ENDPOINT, "a", "k", PAYLOAD)).rejects.toMatchObject({
      code: "idempotency_in_progress",
    });
    // However long the request takes: its process is there.
    service.clock.advance(600_000);
    await expect(living.reserve(ENDPOINT, "a", "k", PAYLOAD)).rejects.toMatchObject({
      code: "idempotency_in_progress",
    });
    const { database } = service.deps;
    await database.run(database.build.updateTable("leases").set({ until: 0 }));
    const heir = reservationIn(await living.reserve(ENDPOINT, "a", "k", PAYLOAD));
    await expect(completeAlone(service.deps, dead)).rejects.toMatchObject({ code: "idempotency_in_progress" });
    await completeAlone(service.deps, heir);
  });

  it("left by an earlier run is dropped at start-up, so that a repeat runs at once", async () => {
    await createIdempotency(service.deps).reserve(ENDPOINT, "a", "k", PAYLOAD);
    const restarted = createIdempotency(service.deps);
    // The restart began after the reservation, be it in the same millisecond.
    await releaseEnded(service.deps.database, Date.now() + 1);
    expect((await restarted.reserve(ENDPOINT, "a", "k", PAYLOAD)).kind).toBe("reserved");
  });
});

describe("through the app", () => {
  it("50 parallel repeats have one effect; all others wait or get its answer", async () => {
    const { key } = await service.signUp();
    const call = { key, headers: { "idempotency-key": "once" }, json: { name: "One", type: "public" } };
    const answers = await Promise.all(Array.from({ length: 50 }, () => service.ask("POST", "/api/vaults", call)));
    for (const { status } of answers) expect([201, 409]).toContain(status);
    expect(answers.filter(({ status, headers }) => status === 201 && !headers["idempotent-replayed"])).toHaveLength(1);
    expect(await countVaults(service, key)).toBe(2);
  });

  it("no lease is left when the app has closed, and none is renewed", async () => {
    const { key } = await service.signUp();
    const call = { key, headers: { "idempotency-key": "once" }, json: { name: "One", type: "public" } };
    await service.ask("POST", "/api/vaults", call);
    await service.app.close();
    const { database } = service.deps;
    const held = database.build.selectFrom("leases").select("name").where("holder", "is not", null);
    expect(await database.all(held)).toEqual([]);
  });

  it("a commit that fails leaves neither effect nor answer, and the repeat runs", async () => {
    let failing = false;
    await using service = await openTestApp({
      replace: ({ database }) => ({ database: failingCommits(database, () => failing) }),
    });
    const { key } = await service.signUp();
    const call = { key, headers: { "idempotency-key": "crash" }, json: { name: "Two", type: "public" } };
    failing = true;
    expect((await service.ask("POST", "/api/vaults", call)).status).toBe(500);
    failing = false;
    expect(await countVaults(service, key)).toBe(1);
    const again = await service.ask("POST", "/api/vaults", call);
    expect([again.status, again.headers["idempotent-replayed"]]).toEqual([201, undefined]);
    const repeat = await service.ask("POST", "/api/vaults", call);
    expect([repeat.status, repeat.headers["idempotent-replayed"], repeat.text]).toEqual([201, "true", again.text]);
    expect(await countVaults(service, key)).toBe(2);
  });

  it("never keeps a raw key: the repeat names the id [D1-idempotency-secrets]", async () => {
    const { key } = await service.signUp();
    const call = { key, headers: { "idempotency-key": "secret" }, json: { name: "Key" } };
    const first = await service.ask("POST", "/api/auth/api-keys", call);
    const repeat = await service.ask("POST", "/api/auth/api-keys", call);
    expect([repeat.status, repeat.headers["x-error-code"]]).toEqual([409, "already_created"]);
    expect(repeat.text).toContain(String(first.body["id"]));
    expect(repeat.headers["location"]).toBe(`/api/auth/api-keys/${String(first.body["id"])}`);
    const rows = await service.deps.database.all(service.deps.database.build.selectFrom("idempotency").selectAll());
    expect(JSON.stringify(rows)).not.toContain(String(first.body["key"]));
  });

  it("an answer never reaches a key of the account that does not see what was made, and reaches one with the same rights", async () => {
    const { key: owner } = await service.signUp();
    const [seen, hidden] = [await service.newVault(owner, "Seen"), await service.newVault(owner, "Hidden")];
    const mint = async (json: object) => (await service.newKey(owner, json)).key;
    const call = { headers: { "idempotency-key": "guessed" }, json: { name: "Secret plans", vaultId: hidden } };
    const first = await service.ask("POST", "/api/folders", { ...call, key: owner });
    expect(first.status).toBe(201);
    for (const narrower of [{ vaultIds: [seen] }, { scopes: ["folders:write"] }]) {
      const answer = await service.ask("POST", "/api/folders", { ...call, key: await mint(narrower) });
      expect([answer.status, answer.headers["x-error-code"]]).toEqual([422, "idempotency_mismatch"]);
    }
    const same = await service.ask("POST", "/api/folders", { ...call, key: await mint({}) });
    expect([same.status, same.headers["idempotent-replayed"], same.text]).toEqual([201, "true", first.text]);
  });

  it("an answer to one agent never reaches another, who acts with another chain address", async () => {
    const { key: owner } = await service.signUp();
    const { database } = service.deps;
    const agent = async (digit: string): Promise<string> => {
      const { id, key } = await service.newKey(owner);
      const bound = { chain_address: `0x${digit.repeat(64)}` };
      await database.run(database.build.updateTable("api_keys").set(bound).where("id", "=", id));
      return key;
    };
    const call = { headers: { "idempotency-key": "guessed" }, json: { name: "Plans" } };
    const first = await service.ask("POST", "/api/folders", { ...call, key: await agent("a") });
    expect(first.status).toBe(201);
    const other = await service.ask("POST", "/api/folders", { ...call, key: await agent("b") });
    expect([other.status, other.headers["x-error-code"]]).toEqual([422, "idempotency_mismatch"]);
    const same = await service.ask("POST", "/api/folders", { ...call, key: await agent("a") });
    expect([same.status, same.text]).toEqual([201, first.text]);
  });

  it("refuses keys that are empty, too long or not ASCII", async () => {
    const { key } = await service.signUp();
    for (const bad of ["x".repeat(256), "with space", "ü"]) {
      const call = { key, headers: { "idempotency-key": bad }, json: { name: "Bad", type: "public" } };
      expect((await service.ask("POST", "/api/vaults", call)).status).toBe(400);
    }
  });
});

/** The transaction that makes a vault runs whole and then fails to commit. */
function failingCommits(database: Deps["database"], isFailing: () => boolean): Deps["database"] {
  let transactions = 0;
  return new Proxy(database, {
    get(target, name) {
      if (name === "transaction" && isFailing()) {
        return (...[work, options]: Parameters<Deps["database"]["transaction"]>) =>
          target.transaction(async (transaction) => {
            const result = await work(transaction);
            // The first transaction reserves the key, the second one is the effect.
            transactions += 1;
            if (transactions === 2) throw new Error("the disk went away");
            return result;
          }, options);
      }
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
}
