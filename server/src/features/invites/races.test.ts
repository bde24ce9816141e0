/** Exactly one key for each code, whoever races: within one process, and between two on one database. */
import { beforeAll, describe, expect, it } from "vitest";
import { makeDirectory } from "../../../../test/kit/directory.ts";
import type { Database } from "../../ports/database.ts";
import { openTestApp, type TestApp } from "../../app.test-kit.ts";
import { openTestDatabase } from "../../storage.test-kit.ts";
import { claimOf, errorCodeOf, makeInvite, newSigner, redeem } from "./invites.test-kit.ts";

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
const CODES = FULL ? 200 : 4;
const REDEEMERS = FULL ? 100 : 12;
const ENVIRONMENT = { SERVICE_MAX_API_KEYS: "1000000", SERVICE_MAX_INVITES: "1000000" };

let databases: readonly Database[];
let services: readonly TestApp[];
let owner: { id: string; key: string };
beforeAll(async () => {
  const directory = makeDirectory();
  const open = () => openTestDatabase(directory, { busyAttempts: 1000 });
  databases = [await open(), await open()];
  services = await Promise.all(
    databases.map((database) => openTestApp({ environment: ENVIRONMENT, replace: () => ({ database }) })),
  );
  owner = await serviceAt(0).signUp();
  return async () => {
    for (const one of [...services, ...databases]) await one[Symbol.asyncDispose]();
  };
});

function serviceAt(index: number): TestApp {
  const service = services[index % services.length];
  if (service === undefined) throw new Error("no service was opened");
  return service;
}

async function keysOf(inviteId: string): Promise<unknown[]> {
  const [database] = databases;
  if (database === undefined) throw new Error("no database was opened");
  const query = database.build
    .selectFrom("changes")
    .select("target_json")
    .where("action", "=", "api_key.created")
    .where("actor_json", "like", `%${inviteId}%`);
  return database.all(query);
}

describe("[D4-invite-redeem] [S8-invite-uses] redeemers of one code", () => {
  it.each([
    ["of one process", 1],
    ["of two processes", 2],
  ])("%s get exactly one key", async (_, spread) => {
    // One signer a redeemer for all codes: making keys is not what is tested.
    const signers = Array.from({ length: REDEEMERS }, newSigner);
    for (let code = 0; code < CODES / 2; code += 1) {
      for (const { clock } of services) clock.advance(1);
      const invite = await makeInvite(serviceAt(0), owner.key, { scopes: ["files:read"] });
      const answers = await Promise.all(
        signers.map((signer, index) => {
          const service = serviceAt(index % spread);
          return redeem(service, claimOf(signer, invite.code, service.clock.now()));
        }),
      );
      const won = answers.filter(({ status }) => status === 201);
      const lost = answers.filter(({ status }) => status !== 201).map(errorCodeOf);
      expect(won).toHaveLength(1);
      expect(lost).toEqual(Array.from({ length: REDEEMERS - 1 }, () => "invite_ended"));
      expect(await keysOf(invite.id)).toHaveLength(1);
      const { key, chainAddress } = won[0]?.body ?? {};
      const seen = await serviceAt(1).ask("GET", "/api/auth/invites?limit=1", { key: owner.key });
      expect(seen.body["invites"]).toMatchObject([{ id: invite.id, status: "used", chainAddress }]);
      expect((await serviceAt(1).ask("GET", "/api/files", { key: String(key) })).status).toBe(200);
    }
  });

  it("race a revocation: either there is a key and the invite is used, or there is none and it is revoked", async () => {
    const signer = newSigner();
    const outcomes = new Set<unknown>();
    for (let code = 0; code < CODES * 2; code += 1) {
      for (const { clock } of services) clock.advance(1);
      const invite = await makeInvite(serviceAt(0), owner.key);
      const revoke = () => serviceAt(1).ask("DELETE", `/api/auth/invites/${invite.id}`, { key: owner.key });
      const take = () => redeem(serviceAt(0), claimOf(signer, invite.code, serviceAt(0).clock.now()));
      const [redeemed, revoked] =
        code % 2 === 0
          ? await Promise.all([take(), revoke()])
          : await Promise.all([revoke(), take()]).then(([second, first]) => [first, second] as const);
      const seen = await serviceAt(0).ask("GET", "/api/auth/invites?limit=1", { key: owner.key });
      const [{ status }] = seen.body["invites"] as [{ status: string }];
      outcomes.add(status);
      expect(revoked.status).toBe(204);
      expect([redeemed.status, (await keysOf(invite.id)).length]).toEqual(status === "used" ? [201, 1] : [410, 0]);
    }
    expect([...outcomes].every((status) => status === "used" || status === "revoked")).toBe(true);
  });
});

it("[D2-live-invites] many who create at once make as many invites as the limit allows", async () => {
  await using small = await openTestApp({ environment: { SERVICE_MAX_INVITES: "3" } });
  const { key } = await small.signUp();
  const create = () => small.ask("POST", "/api/auth/invites", { key, json: { name: "A" } });
  const answers = await Promise.all(Array.from({ length: REDEEMERS }, create));
  const outcomes = answers.map((answer) => errorCodeOf(answer) ?? answer.status).sort();
  expect(outcomes).toEqual([201, 201, 201, ...Array.from({ length: REDEEMERS - 3 }, () => "limit_reached")]);
});
