import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createKey, signUp } from "../kit/account.ts";
import { expectError, expectStatus, fieldsAt, listIn, objectIn, textIn, TIMESTAMP, UUID } from "../kit/answers.ts";
import { filesHolding, querySql, runSql } from "../kit/data-directory.ts";
import { useService } from "../kit/service.ts";
import { openWebhooks, type Webhooks } from "../kit/webhooks.ts";

const service = useService();

/** Nothing listens there, and nothing of these tests makes it matter. */
const URL_OF_NOBODY = "http://127.0.0.1:9/hook";
const UNKNOWN = "0b8e1d4e-1c56-4cf5-9f0c-5f7b0e6f3a11";

const mine = (): Webhooks => openWebhooks(service().server.baseUrl, service().owner.apiKey);
const of = (key: string): Webhooks => openWebhooks(service().server.baseUrl, key);

/** An account that no other test uses. */
async function another(): Promise<Webhooks> {
  return of((await signUp(service().server.baseUrl)).apiKey);
}

describe("a webhook endpoint", () => {
  it("is made with url, events and description, and looks as specified [D6-create S2.1-id S2.1-url S2.1-events S2.1-active S2.1-description S2.1-last-delivery-status S2.1-last-delivery-at S2.1-failure-count S2.1-created-at S2.1-updated-at D6-last-delivery-status D0-required-without-value]", async () => {
    const body = { url: URL_OF_NOBODY, events: ["file.uploaded", "vault.member_removed"], description: "to our queue" };
    const answer = await mine().ask("POST", "/", body);
    const fields = fieldsAt(answer, 201);
    expect(fields).toEqual({ webhook: expect.anything(), secret: expect.stringMatching(/^whsec_[0-9A-Za-z+/]{43}=$/) });
    const webhook = objectIn(fields, "webhook");
    expect(webhook).toEqual({
      id: expect.stringMatching(UUID),
      ...body,
      active: true,
      lastDeliveryStatus: "none",
      lastDeliveryAt: null,
      failureCount: 0,
      createdAt: expect.stringMatching(TIMESTAMP),
      updatedAt: expect.stringMatching(TIMESTAMP),
    });
    expect(answer.headers.get("location")).toBe(`/api/webhooks/${textIn(webhook, "id")}`);
    expect(await mine().get(textIn(webhook, "id"))).toEqual(webhook);
  });

  it("without a description has an empty one [D6-description D0-required-without-value]", async () => {
    const { webhook } = await mine().create(URL_OF_NOBODY);
    expect(webhook).toMatchObject({ description: "", events: ["*"] });
  });

  it("answers at paths with and without a trailing slash [D1-trailing-slash S4.1-list S4.1-get]", async () => {
    const owner = await another();
    const body = { url: URL_OF_NOBODY, events: ["*"] };
    const made = [fieldsAt(await owner.ask("POST", "/", body), 201), fieldsAt(await owner.ask("POST", "", body), 201)];
    const ids = made.map((fields) => textIn(objectIn(fields, "webhook"), "id"));
    for (const path of ["/", ""]) {
      const fields = fieldsAt(await owner.ask("GET", path), 200);
      expect(Object.keys(fields).sort()).toEqual(["nextCursor", "webhooks"]);
      expect(listIn(fields, "webhooks").map(({ id }) => id)).toEqual(ids.toReversed());
      const one = await owner.ask("GET", `/${String(ids[0])}${path}`);
      expect(objectIn(fieldsAt(one, 200), "webhook")["id"]).toBe(ids[0]);
      expectStatus(await owner.ask("GET", `/${String(ids[0])}/deliveries${path}`), 200);
    }
  });

  it.each(["//", "/nothing//", "//nothing"])(
    "is not found with an empty segment: %s [D1-one-trailing-slash]",
    async (path) => {
      for (const method of ["GET", "POST", "PATCH", "DELETE"])
        expectError(await mine().ask(method, path, method === "GET" ? undefined : {}), 404, "not_found");
      // A query may hold what it likes.
      expectError(await mine().ask("GET", "?unknown=a//b"), 400, "validation_failed");
    },
  );

  it("is listed page by page, newest first, to its account alone [S4.1-list D1-list-cursor D1-foreign-object-404]", async () => {
    const owner = await another();
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.unshift((await owner.create(URL_OF_NOBODY)).id);
    const seen: unknown[] = [];
    let next = "?limit=2";
    for (let pages = 0; next !== "" && pages < 9; pages += 1) {
      const page = fieldsAt(await owner.ask("GET", `/${next}`), 200);
      seen.push(...listIn(page, "webhooks").map(({ id }) => id));
      next = page["nextCursor"] === null ? "" : `?limit=2&cursor=${encodeURIComponent(textIn(page, "nextCursor"))}`;
    }
    expect(seen).toEqual(ids);
    expect(fieldsAt(await (await another()).ask("GET", "/"), 200)).toEqual({ webhooks: [], nextCursor: null });
  });

  it("is changed field by field, switched off and on, and deleted once [D6-update-delete S3-webhook-active D1-delete-204 D1-second-delete-gone]", async () => {
    const { id, webhook } = await mine().create(URL_OF_NOBODY, ["file.uploaded"], { description: "before" });
    await pause(5);
    const change = async (body: object) =>
      objectIn(fieldsAt(await mine().ask("PATCH", `/${id}`, body), 200), "webhook");
    const off = await change({ active: false });
    expect(off).toEqual({ ...webhook, active: false, updatedAt: expect.stringMatching(TIMESTAMP) });
    expect(Date.parse(textIn(off, "updatedAt"))).toBeGreaterThan(Date.parse(textIn(webhook, "updatedAt")));
    expect(await mine().get(id)).toEqual(off);
    expect(await change({ active: true, description: "" })).toMatchObject({ active: true, description: "" });
    const url = "http://127.0.0.1:9/other?a=b";
    expect(await change({ url, events: ["*"] })).toMatchObject({ url, events: ["*"], active: true });
    expectStatus(await mine().ask("DELETE", `/${id}`), 204);
    expectError(await mine().ask("DELETE", `/${id}`), 404, "not_found");
    expectError(await mine().ask("GET", `/${id}`), 404, "not_found");
    expect(await querySql(service().dataDirectory, "SELECT id FROM webhooks WHERE id = ?", id)).toEqual([]);
  });

  it("takes the event kinds there are, each once, and no others [D6-event-kinds D1-validation-400]", async () => {
    const { webhook } = await mine().create(URL_OF_NOBODY, ["file.trashed", "file.trashed", "account.plan_changed"]);
    expect(webhook["events"]).toEqual(["file.trashed", "account.plan_changed"]);
    for (const events of [[], ["file.*"], ["file.Uploaded"], ["file.uploaded", "nothing"], "*", null, [1]]) {
      const said = expectError(await mine().ask("POST", "/", { url: URL_OF_NOBODY, events }), 400, "validation_failed");
      expect(said).toMatch(/^body\.events/);
    }
    const more = { url: URL_OF_NOBODY, events: ["*"], secret: "whsec_mine", active: false };
    expectError(await mine().ask("POST", "/", more), 400, "validation_failed");
  });

  it("is one of at most 20 of an account [D2-webhook-endpoints]", async () => {
    const owner = await another();
    const ids: string[] = [];
    for (let count = 0; count < 20; count += 1) ids.push((await owner.create(URL_OF_NOBODY)).id);
    const body = { url: URL_OF_NOBODY, events: ["*"] };
    expect(expectError(await owner.ask("POST", "/", body), 403, "limit_reached")).toContain("20");
    expectStatus(await owner.ask("DELETE", `/${String(ids[0])}`), 204);
    const both = await Promise.all([owner.ask("POST", "/", body), owner.ask("POST", "/", body)]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 403]);
  });
});

/** Every operation on one endpoint. */
const ON_ONE: readonly (readonly [method: string, path: string, body?: object])[] = [
  ["GET", ""],
  ["PATCH", "", { active: true }],
  ["POST", "/test"],
  ["POST", "/rotate-secret"],
  ["GET", "/deliveries"],
  ["GET", `/deliveries/${UNKNOWN}`],
  ["POST", `/deliveries/${UNKNOWN}/redeliver`],
  ["POST", "/recover", { since: "2026-01-01T00:00:00.000Z" }],
  ["DELETE", ""],
];

describe("a webhook id", () => {
  it("that is unknown, or another account's, is 404 { error } [S4.1-get S4.1-test S7-404-webhook D1-foreign-object-404]", async () => {
    const { id } = await mine().create(URL_OF_NOBODY);
    const stranger = await another();
    for (const [method, path, body] of ON_ONE) {
      expectError(await mine().ask(method, `/${UNKNOWN}${path}`, body), 404, "not_found");
      expectError(await stranger.ask(method, `/${id}${path}`, body), 404, "not_found");
    }
    expect(await mine().deliveries(id)).toEqual([]);
  });

  it("that is no uuid is 400 [D1-bad-uuid-400 S4.1-webhook-id]", async () => {
    for (const [method, path, body] of ON_ONE) {
      const said = expectError(await mine().ask(method, `/not-a-uuid${path}`, body), 400, "validation_failed");
      expect(said).toMatch(/^params\.webhookId/);
    }
    const { id } = await mine().create(URL_OF_NOBODY);
    expectError(await mine().ask("GET", `/${id}/deliveries/not-a-uuid`), 400, "validation_failed");
  });
});

describe("webhooks are the owner's", () => {
  const refusedEverywhere = async (key: string, code: string): Promise<void> => {
    const { id } = await mine().create(URL_OF_NOBODY);
    for (const [method, path, body] of ON_ONE) expectError(await of(key).ask(method, `/${id}${path}`, body), 403, code);
    for (const path of ["", "/"]) {
      expectError(await of(key).ask("GET", path), 403, code);
      expectError(await of(key).ask("POST", path, { url: URL_OF_NOBODY, events: ["*"] }), 403, code);
    }
    for (const path of ["/api/webhook-events", "/api/events"])
      expectError(await service().ask("GET", path, { key }), 403, code);
    // Whether the object is there makes no difference to who may not ask.
    expectError(await of(key).ask("GET", `/${UNKNOWN}`), 403, code);
  };

  it("an agent's key is 403 on every route of them, GET and test included [D0-agents-no-webhooks S5.9-webhooks D4-owner-only-feed D1-owner-only-403]", async () => {
    await refusedEverywhere((await service().inviteAgent()).key, "owner_only");
  });

  it("a key limited to vaults is 403 on every route of them [D4-vault-limited-key]", async () => {
    const vaultIds = [await service().makeVault("limited")];
    const { server, owner } = service();
    const { key } = await createKey(server.baseUrl, owner.apiKey, { name: "limited", vaultIds });
    await refusedEverywhere(key, "vault_limited_key");
  });

  it("a key with webhooks:read reads, and changes nothing [D4-scopes D1-missing-scope-403]", async () => {
    const { id } = await mine().create(URL_OF_NOBODY);
    const { server, owner } = service();
    const { key } = await createKey(server.baseUrl, owner.apiKey, { name: "reader", scopes: ["webhooks:read"] });
    for (const [method, path, body] of ON_ONE.filter(([, path]) => !path.includes(UNKNOWN))) {
      const answer = await of(key).ask(method, `/${id}${path}`, body);
      if (method === "GET") expectStatus(answer, 200);
      else expectError(answer, 403, "missing_scope");
    }
    expectError(await service().ask("GET", "/api/events", { key }), 403, "missing_scope");
  });
});

describe("a signing secret", () => {
  it("is shown at creation and never again, and kept encrypted under the master key [D6-create D1-webhook-secrets D1-idempotency-secrets]", async () => {
    const call = { body: { url: URL_OF_NOBODY, events: ["*"] }, headers: { "idempotency-key": "webhook-once" } };
    const fields = fieldsAt(await service().ask("POST", "/api/webhooks/", call), 201);
    const id = textIn(objectIn(fields, "webhook"), "id");
    const secret = textIn(fields, "secret");
    const repeat = await service().ask("POST", "/api/webhooks/", call);
    expect(expectError(repeat, 409, "already_created")).toContain(id);
    const reads = await Promise.all([
      mine().ask("GET", `/${id}`),
      mine().ask("GET", "/"),
      mine().ask("PATCH", `/${id}`, {}),
    ]);
    for (const answer of reads) {
      expectStatus(answer, 200);
      expect(new TextDecoder().decode(answer.bytes)).not.toContain("secret");
    }
    const { dataDirectory, server } = service();
    for (const form of [secret, secret.slice("whsec_".length)]) {
      expect(await filesHolding(dataDirectory, form)).toEqual([]);
      expect(server.printed()).not.toContain(form);
    }
    const [row] = await querySql(dataDirectory, "SELECT secret FROM webhooks WHERE id = ?", id);
    expect(String(row?.["secret"]).length).toBeGreaterThan(secret.length);
  });

  it("of one endpoint is of no use in another's row [D1-webhook-secrets]", async () => {
    const [one, other] = [await mine().create(URL_OF_NOBODY), await mine().create(URL_OF_NOBODY)];
    const { dataDirectory } = service();
    const copy = "UPDATE webhooks SET secret = (SELECT secret FROM webhooks WHERE id = ?) WHERE id = ?";
    await runSql(dataDirectory, copy, one.id, other.id);
    expectStatus(await mine().ask("POST", `/${other.id}/test`), 500);
    expectStatus(await mine().ask("POST", `/${one.id}/test`), 200);
  });
});
