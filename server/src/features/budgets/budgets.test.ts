/** Budgets of keys (decision 0057), as a runaway agent, or somebody with its key, meets them. */
import { beforeEach, describe, expect, it } from "vitest";
import { batchForm, FORM_TYPE } from "../../../../test/kit/batch-form.ts";
import { expireVersions } from "../../jobs/expiry.ts";
import { openTestApp, type TestAnswer } from "../../app.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";
import { claimOf, errorCodeOf, newSigner, redeem } from "../invites/invites.test-kit.ts";
import { toTimestamp } from "../timestamps.ts";
import { endOfSlot, slotOf } from "./rules.ts";

const HOUR = 3_600_000;
const KIB = 1024;

const service = ofEachTest(openTestApp);
let owner = "";
beforeEach(async () => {
  owner = (await service.signUp()).key;
});

const newKey = (budgets: object, by = owner) => service.newKey(by, { budgets });
let names = 0;
const bytesOf = (size: number) => "x".repeat(size);
const upload = (key: string, size: number, headers: Record<string, string> = {}) =>
  service.ask("POST", `/api/files?name=${(names += 1)}`, { key, payload: bytesOf(size), headers });
const fileOf = ({ body }: TestAnswer) => body["file"] as { id: string; versionId: string };
const outcome = (answer: TestAnswer) => [answer.status, errorCodeOf(answer), answer.headers["x-budget"]];
const OK = [201, undefined, undefined];
const deleteForGood = (id: string) => service.ask("DELETE", `/api/files/${id}?permanent=true`, { key: owner });

interface Use {
  readonly used: number;
  readonly left: number;
  readonly renewsAt: string | null;
}
async function useOf(key: string): Promise<Record<string, Use>> {
  const { body } = await service.ask("GET", "/api/account", { key });
  return (body["credential"] as { budgetUse: Record<string, Use> }).budgetUse;
}

function beginUpload(key: string, length: number, fileId?: string) {
  const name = Buffer.from(`${(names += 1)}`).toString("base64");
  const target = fileId === undefined ? "" : `,fileId ${Buffer.from(fileId).toString("base64")}`;
  const headers = {
    "tus-resumable": "1.0.0",
    "upload-length": `${length}`,
    "upload-metadata": `filename ${name}${target}`,
  };
  return service.ask("POST", "/api/uploads", { key, headers });
}
function append(key: string, created: TestAnswer, size: number, offset = 0) {
  const headers = {
    "tus-resumable": "1.0.0",
    "upload-offset": `${offset}`,
    "content-type": "application/offset+octet-stream",
  };
  return service
    .ask("PATCH", String(created.headers["location"]), { key, headers, payload: bytesOf(size) })
    .catch(Error);
}

describe("[D1-budgets] what a key has written in a day", () => {
  it("is refused beyond the budget, with its name and when there is room, to the second", async () => {
    const { key } = await newKey({ bytesPerDay: 100 });
    expect(outcome(await upload(key, 60))).toEqual(OK);
    service.clock.advance(HOUR);
    expect(outcome(await upload(key, 40))).toEqual(OK);
    const refused = await upload(key, 1);
    expect(outcome(refused)).toEqual([429, "budget_exceeded", "bytesPerDay"]);
    const renewal = endOfSlot(slotOf(service.clock.now() - HOUR));
    expect(refused.body["error"]).toContain(`0 of 100 left, and this needs 1. It has room at ${toTimestamp(renewal)}`);
    const seconds = Number(refused.headers["retry-after"]);
    expect(seconds).toBe(Math.ceil((renewal - service.clock.now()) / 1000));
    expect(seconds).toBeGreaterThanOrEqual(23 * 3600);
    expect(await useOf(key)).toEqual({ bytesPerDay: { used: 100, left: 0, renewsAt: toTimestamp(renewal) } });
    service.clock.advance(seconds * 1000 - 1);
    expect(outcome(await upload(key, 1))).toEqual([429, "budget_exceeded", "bytesPerDay"]);
    service.clock.advance(1);
    expect(outcome(await upload(key, 60))).toEqual(OK);
    expect(outcome(await upload(key, 1))).toEqual([429, "budget_exceeded", "bytesPerDay"]);
  });

  it("tells an upload that is larger than the budget that it never fits", async () => {
    const { key } = await newKey({ bytesPerDay: 100 });
    const refused = await upload(key, 101);
    expect(outcome(refused)).toEqual([429, "budget_exceeded", "bytesPerDay"]);
    expect(refused.body["error"]).toContain("It never fits");
  });

  it("counts what is deleted and uploaded again, replaced, restored; and not what failed or was repeated", async () => {
    const { key } = await newKey({ bytesPerDay: 100, filesPerDay: 6 });
    const again = { "idempotency-key": "one" };
    const made = await upload(key, 10, again);
    names -= 1;
    expect(fileOf(await upload(key, 10, again)).id).toBe(fileOf(made).id);
    const { id, versionId } = fileOf(made);
    const digest = { "content-digest": `sha-256=:${"A".repeat(43)}=:` };
    expect(errorCodeOf(await upload(key, 10, digest))).toBe("digest_mismatch");
    await service.ask("PUT", `/api/files/${id}/content`, { key, payload: bytesOf(20) });
    await service.ask("POST", `/api/files/${id}/versions/${versionId}/restore`, { key });
    await service.ask("POST", `/api/files/${id}/versions/${versionId}/restore`, { key });
    expect(await useOf(key)).toMatchObject({ bytesPerDay: { used: 30 }, filesPerDay: { used: 3 } });
    await deleteForGood(id);
    for (const size of [0, 0, 60]) expect(outcome(await upload(key, size))).toEqual(OK);
    expect(await useOf(key)).toMatchObject({ bytesPerDay: { used: 90 }, filesPerDay: { used: 6, left: 0 } });
    expect(outcome(await upload(key, 0))).toEqual([429, "budget_exceeded", "filesPerDay"]);
  });

  it("lets no more pass at once than one after the other [A9]", async () => {
    const { key } = await newKey({ bytesPerDay: 5 * KIB, filesPerDay: 4 });
    const all = await Promise.all(Array.from({ length: 20 }, () => upload(key, KIB)));
    expect(all.filter(({ status }) => status === 201)).toHaveLength(4);
    expect(await useOf(key)).toMatchObject({ bytesPerDay: { used: 4 * KIB }, filesPerDay: { used: 4 } });
  });

  it("is asked of each file of a batch: those that have room are stored, and a refused one counts nothing", async () => {
    const { key: maker } = await newKey({ bytesPerDay: 100 });
    const { key } = await newKey({ bytesPerDay: 90, filesPerDay: 10 }, maker);
    const files = [40, 80, 50, 1].map((size) => ({ said: { name: `${size}` }, content: bytesOf(size) }));
    const payload = batchForm(files).toString("latin1");
    const headers = { "content-type": FORM_TYPE };
    const { body } = await service.ask("POST", "/api/files/batch", { key, headers, payload });
    const results = body["results"] as { error: { code: string } | null }[];
    expect(results.map(({ error }) => error?.code ?? "ok")).toEqual(["ok", "budget_exceeded", "ok", "budget_exceeded"]);
    expect(await useOf(key)).toMatchObject({ bytesPerDay: { used: 90, left: 0 }, filesPerDay: { used: 2 } });
    expect(await useOf(maker)).toMatchObject({ bytesPerDay: { used: 90, left: 10 } });
  });

  it("counts nothing for less than a day when the clock is set back, and forgets a wrong year", async () => {
    const { key } = await newKey({ bytesPerDay: 10 });
    expect(outcome(await upload(key, 10))).toEqual(OK);
    service.clock.advance(-2 * HOUR);
    expect(outcome(await upload(key, 1))).toEqual([429, "budget_exceeded", "bytesPerDay"]);
    service.clock.advance(-365 * 24 * HOUR);
    expect(outcome(await upload(key, 10))).toEqual(OK);
  });
});

describe("[D1-budgets] what unfinished uploads hold", () => {
  it("counts from a resumable upload's creation to its end", async () => {
    const { key } = await newKey({ bytesPerDay: 100, storedBytes: 100 });
    const first = await beginUpload(key, 60);
    expect(outcome(await beginUpload(key, 60))[1]).toMatch(/^budget_/);
    expect(outcome(await upload(key, 60))[1]).toMatch(/^budget_/);
    expect(await useOf(key)).toMatchObject({ bytesPerDay: { used: 60 }, storedBytes: { used: 60 } });
    const headers = { "tus-resumable": "1.0.0" };
    await service.ask("DELETE", String(first.headers["location"]), { key, headers });
    const second = await beginUpload(key, 100);
    await append(key, second, 100);
    await append(key, second, 0, 100);
    expect(await useOf(key)).toMatchObject({ bytesPerDay: { used: 100 }, storedBytes: { used: 100 } });
    expect(outcome(await beginUpload(key, 1))[1]).toMatch(/^budget_/);
  });

  it("comes back when the upload expires or its vault goes", async () => {
    const { key } = await newKey({ storedBytes: 100 });
    await beginUpload(key, 100);
    service.clock.advance(24 * HOUR);
    const vault = await service.newVault(owner, "Short");
    const target = `filename ${Buffer.from("a").toString("base64")},vaultId ${Buffer.from(vault).toString("base64")}`;
    const headers = { "tus-resumable": "1.0.0", "upload-length": "100", "upload-metadata": target };
    expect((await service.ask("POST", "/api/uploads", { key, headers })).status).toBe(201);
    await service.ask("DELETE", `/api/vaults/${vault}?permanent=true&force=true`, { key: owner });
    expect(outcome(await upload(key, 100))).toEqual(OK);
  });
});

describe("[D1-budgets] what a key has stored", () => {
  it("is refused beyond the budget until the owner deletes it for good; waiting does not help", async () => {
    const { key } = await newKey({ storedBytes: 100 });
    const { id } = fileOf(await upload(key, 100));
    const refused = await upload(key, 1);
    expect(outcome(refused)).toEqual([403, "budget_storage", "storedBytes"]);
    expect(refused.headers["retry-after"]).toBeUndefined();
    expect(outcome(await upload(key, 0))).toEqual(OK);
    await service.ask("DELETE", `/api/files/${id}`, { key });
    expect(outcome(await upload(key, 1))).toEqual([403, "budget_storage", "storedBytes"]);
    await service.ask("DELETE", "/api/trash", { key: owner });
    expect(outcome(await upload(key, 100))).toEqual(OK);
  });

  it("is of who stored the bytes, whoever replaces, restores and deletes them", async () => {
    const { key } = await newKey({ storedBytes: 100 });
    const { key: other } = await newKey({ storedBytes: 100 });
    const { id, versionId } = fileOf(await upload(key, 60));
    const replaced = fileOf(await service.ask("PUT", `/api/files/${id}/content`, { key: other, payload: bytesOf(50) }));
    expect([await useOf(key), await useOf(other)]).toMatchObject([
      { storedBytes: { used: 60 } },
      { storedBytes: { used: 50 } },
    ]);
    await service.ask("POST", `/api/files/${id}/versions/${versionId}/restore`, { key: other });
    await service.ask("DELETE", `/api/files/${id}/versions/${versionId}`, { key: owner });
    await service.ask("DELETE", `/api/files/${id}/versions/${replaced.versionId}`, { key: owner });
    expect([await useOf(key), await useOf(other)]).toMatchObject([
      { storedBytes: { used: 60 } },
      { storedBytes: { used: 0 } },
    ]);
    await service.ask("PUT", `/api/files/${id}/content?keep=false`, { key: owner, payload: bytesOf(5) });
    expect(await useOf(key)).toMatchObject({ storedBytes: { used: 0, left: 100 } });
  });

  it("goes with versions whose days are over, with files, and with vaults", async () => {
    const { key } = await newKey({ storedBytes: 100 });
    const vault = await service.newVault(owner, "V");
    const made = await service.ask("POST", `/api/files?name=a&vaultId=${vault}`, { key, payload: bytesOf(30) });
    const { id } = fileOf(made);
    await service.ask("PUT", `/api/files/${id}/content`, { key, payload: bytesOf(20) });
    const { id: kept } = fileOf(await upload(key, 40));
    await service.ask("PUT", `/api/files/${kept}/content`, { key, payload: bytesOf(10) });
    expect(outcome(await upload(key, 1))).toEqual([403, "budget_storage", "storedBytes"]);
    await service.ask("DELETE", `/api/vaults/${vault}?permanent=true&force=true`, { key: owner });
    expect(await useOf(key)).toMatchObject({ storedBytes: { used: 50 } });
    service.clock.advance(31 * 24 * HOUR);
    await expireVersions(service.deps, new AbortController().signal);
    expect(await useOf(key)).toMatchObject({ storedBytes: { used: 10 } });
    await deleteForGood(kept);
    expect(await useOf(key)).toMatchObject({ storedBytes: { used: 0 } });
  });
});

describe("[D1-budgets] requests a minute", () => {
  it("are refused beyond the budget, of every kind, and wait no longer than Retry-After says", async () => {
    const made = await newKey({ requestsPerMinute: 3 });
    const ask = () => service.ask("GET", "/api/audit-log", { key: made.key });
    const asked = [await ask(), await ask(), await ask(), await ask()];
    expect(asked.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect([asked[3]?.headers["x-budget"], asked[3]?.headers["x-error-code"]]).toEqual([
      "requestsPerMinute",
      "budget_exceeded",
    ]);
    expect(asked[3]?.headers["retry-after"]).toBe("20");
    service.clock.advance(19_900);
    expect((await ask()).status).toBe(429);
    service.clock.advance(100);
    expect((await ask()).status).toBe(200);
    const { body } = await service.ask("GET", `/api/auth/api-keys/${made.id}`, { key: owner });
    expect(body["apiKey"]).toMatchObject({ budgetUse: { requestsPerMinute: { used: 3, left: 0 } } });
  });
});

describe("[D1-budgets D4-key-budgets] a key never gets round its budgets", () => {
  const rotate = (id: string, by = owner, json = {}) =>
    service.ask("POST", `/api/auth/api-keys/${id}/rotate`, { key: by, json });

  it("by being rotated: what is used stays used, during the overlap too [A9]", async () => {
    const made = await newKey({ bytesPerDay: 100, storedBytes: 150, requestsPerMinute: 1000 });
    await upload(made.key, 60);
    const next = await rotate(made.id, owner, { overlapHours: 1 });
    const key = String(next.body["key"]);
    expect(next.body["budgets"]).toEqual({ bytesPerDay: 100, storedBytes: 150, requestsPerMinute: 1000 });
    expect(outcome(await upload(key, 60))).toEqual([429, "budget_exceeded", "bytesPerDay"]);
    expect(outcome(await upload(key, 40))).toEqual(OK);
    expect(outcome(await upload(made.key, 1))).toEqual([429, "budget_exceeded", "bytesPerDay"]);
  });

  it("by making keys: what they use counts for it as well [A9]", async () => {
    const { key } = await newKey({ bytesPerDay: 100, filesPerDay: 3 });
    const child = await newKey({ bytesPerDay: 80 }, key);
    const { key: shared } = await service.newKey(key);
    expect(outcome(await upload(child.key, 80))).toEqual(OK);
    expect(outcome(await upload(shared, 30))).toEqual([429, "budget_exceeded", "bytesPerDay"]);
    expect(outcome(await upload(shared, 20))).toEqual(OK);
    expect(await useOf(key)).toMatchObject({ bytesPerDay: { used: 100, left: 0 }, filesPerDay: { used: 2, left: 1 } });
    expect(await useOf(child.key)).toMatchObject({
      bytesPerDay: { used: 80, left: 0 },
      filesPerDay: { used: 1, left: 1 },
    });
    expect(
      (await service.ask("POST", "/api/auth/api-keys", { key, json: { name: "n", budgets: {} } })).body,
    ).toMatchObject({
      budgets: { bytesPerDay: 100, filesPerDay: 3 },
    });
  });

  it("by asking for more, by an invite, or by the key of another [A9]", async () => {
    const { key } = await newKey({ bytesPerDay: 100 });
    const wider = { name: "n", budgets: { bytesPerDay: 101 } };
    for (const path of ["/api/auth/api-keys", "/api/auth/invites"])
      expect(errorCodeOf(await service.ask("POST", path, { key, json: wider }))).toBe("scope_too_wide");
    const free = await service.newKey(owner);
    expect(errorCodeOf(await rotate(free.id, key))).toBe("scope_too_wide");
    const other = await newKey({ bytesPerDay: 50 });
    expect(errorCodeOf(await rotate(other.id, key))).toBe("scope_too_wide");
    const invite = await service.ask("POST", "/api/auth/invites", { key, json: { name: "n" } });
    expect(invite.body["budgets"]).toEqual({ bytesPerDay: 100 });
    const claim = claimOf(newSigner(), String(invite.body["code"]), service.clock.now());
    const redeemed = await redeem(service, claim);
    expect(redeemed.body["budgets"]).toEqual({ bytesPerDay: 100 });
    expect(outcome(await upload(String(redeemed.body["key"]), 100))).toEqual(OK);
    expect(outcome(await upload(key, 1))).toEqual([429, "budget_exceeded", "bytesPerDay"]);
  });

  it("by a long line of keys that make each other", async () => {
    let { key } = await newKey({ bytesPerDay: 100 });
    for (let depth = 2; depth <= 8; depth += 1) ({ key } = await newKey({ bytesPerDay: 100 - depth }, key));
    const json = { name: "n", budgets: { bytesPerDay: 1 } };
    expect(errorCodeOf(await service.ask("POST", "/api/auth/api-keys", { key, json }))).toBe("limit_reached");
    expect(outcome(await upload(key, 92))).toEqual(OK);
  });
});

it("[D4-invite-budgets] an invite's budgets are its key's, and its owner sees what is used and left of them", async () => {
  const budgets = { storedBytes: 100, filesPerDay: 2 };
  const invite = await service.ask("POST", "/api/auth/invites", { key: owner, json: { name: "I", budgets } });
  const { body } = await redeem(service, claimOf(newSigner(), String(invite.body["code"]), service.clock.now()));
  await upload(String(body["key"]), 70);
  const renewsAt = toTimestamp(endOfSlot(slotOf(service.clock.now())));
  const use = { storedBytes: { used: 70, left: 30, renewsAt: null }, filesPerDay: { used: 1, left: 1, renewsAt } };
  const invites = await service.ask("GET", "/api/auth/invites", { key: owner });
  expect(invites.body["invites"]).toMatchObject([{ budgets, budgetUse: use }]);
  const keys = await service.ask("GET", "/api/auth/api-keys", { key: owner });
  expect(keys.body["apiKeys"]).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ id: body["keyId"], budgets, budgetUse: use }),
      expect.objectContaining({ budgets: null, budgetUse: null }),
    ]),
  );
});
