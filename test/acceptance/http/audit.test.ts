import { auditEvent, checkAuditChain, renderAuditText, type AuditEvent } from "@coffer/contract";
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { readToken } from "../kit/access-token.ts";
import { createKey, revokeKey, signUp, type NewAccount } from "../kit/account.ts";
import { expectError, expectStatus, fieldsAt, listIn, objectIn, textIn } from "../kit/answers.ts";
import { newChainKey } from "../kit/chain.ts";
import { runSql } from "../kit/data-directory.ts";
import { logIn, signUpWithCode, tokensIn } from "../kit/identity.ts";
import { runOperator } from "../kit/operator.ts";
import { useService } from "../kit/service.ts";

const service = useService();
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The whole log, newest first, page by page. */
async function readLog(key: string, query = ""): Promise<AuditEvent[]> {
  const events: AuditEvent[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const after: string = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const page = fieldsAt(await service().ask("GET", `/api/audit-log?limit=3${query}${after}`, { key }), 200);
    events.push(...listIn(page, "events").map((event) => z.parse(auditEvent, event)));
    cursor = page["nextCursor"] === null ? null : textIn(page, "nextCursor");
  }
  return events;
}

/** An account with one act of each kind, and what they were done with. */
async function actOut() {
  const { server } = service();
  const owner = await signUp(server.baseUrl);
  const as = (key: string) => (method: string, path: string, body?: object) =>
    service().ask(method, path, { key, ...(body === undefined ? {} : { body }) });
  const asOwner = as(owner.apiKey);
  const vault = fieldsAt(await asOwner("POST", "/api/vaults", { name: "Audited", type: "public" }), 201);
  const vaultId = textIn(objectIn(vault, "vault"), "id");
  const minted = await createKey(server.baseUrl, owner.apiKey, { name: "minted" });
  await revokeKey(server.baseUrl, owner.apiKey, minted.id);
  const invited = fieldsAt(await asOwner("POST", "/api/auth/invites", { name: "agent", vaultIds: [vaultId] }), 201);
  const chain = newChainKey(server.baseUrl);
  const body = await chain.redeeming(textIn(invited, "code"));
  const redeemed = fieldsAt(await service().ask("POST", "/api/auth/invites/redeem", { key: "", body }), 201);
  const upload = { key: textIn(redeemed, "key"), body: new Uint8Array(3) };
  expectStatus(await service().ask("POST", `/api/files?name=a&vaultId=${vaultId}`, upload), 201);
  return { owner, vaultId, minted, inviteId: textIn(invited, "id"), keyId: textIn(redeemed, "keyId"), chain };
}

async function keyIdOf({ apiKey }: NewAccount): Promise<unknown> {
  const answer = await service().ask("GET", "/api/account", { key: apiKey });
  return objectIn(fieldsAt(answer, 200), "credential")["id"];
}

describe("the audit log", () => {
  it("shows each act, newest first, with actor, key, chain address and target [D4-audit-log D1-changes-audit D1-changes-row]", async () => {
    const { owner, vaultId, minted, inviteId, keyId, chain } = await actOut();
    const events = await readLog(owner.apiKey);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => events.length - index));
    const find = (action: string, id: string): AuditEvent | undefined =>
      events.find((event) => event.action === action && event.targets.some((target) => target.id === id));
    const byOwner = { type: "api-key", id: await keyIdOf(owner), accessLevel: "owner", chainAddress: null };
    for (const [action, id] of [
      ["vault.created", vaultId],
      ["api_key.created", minted.id],
      ["api_key.revoked", minted.id],
      ["invite.created", inviteId],
    ] as const)
      expect(find(action, id)?.actor, action).toEqual(byOwner);
    const redeemed = events.find(({ action }) => action === "invite.redeemed");
    expect(redeemed?.actor).toMatchObject({ type: "invite", id: inviteId });
    expect(find("api_key.created", keyId)?.actor).toMatchObject({ type: "invite", id: inviteId });
    const uploaded = events.find(({ action }) => action === "file.uploaded");
    expect(uploaded?.actor).toEqual({
      ...{ type: "api-key", id: keyId, accessLevel: "agent", chainAddress: chain.address },
    });
    expect(uploaded?.targets[0]?.vaultId).toBe(vaultId);
    expect(uploaded?.context).toMatchObject({ requestId: expect.any(String), location: "127.0.0.1" });
  });

  it("shows sign-up, sessions and passwords without a secret [D4-audit-log]", async () => {
    const { server, accessCode } = service();
    const code = await accessCode();
    const user = await signUpWithCode(server.baseUrl, code);
    const { sid } = readToken(tokensIn(await logIn(server.baseUrl, user.email)).accessToken).claims;
    const path = `/api/auth/sessions/${String(sid)}`;
    expectStatus(await service().ask("DELETE", path, { key: user.accessToken }), 204);
    const wanted = { currentPassword: user.password, newPassword: "another lantern above harbour" };
    const key = user.accessToken;
    expectStatus(await service().ask("POST", "/api/auth/change-password", { key, body: wanted }), 204);
    const events = await readLog(key);
    const actions = new Set(events.map(({ action }) => action));
    for (const action of ["account.created", "session.created", "account.password_changed", "session.ended"])
      expect([...actions]).toContain(action);
    const text = JSON.stringify(events);
    for (const secret of [code, user.password, wanted.newPassword, user.accessToken, user.refreshToken])
      expect(text).not.toContain(secret);
  });

  it("chains every entry to the one before it [D1-changes-audit D4-audit-log]", async () => {
    const { owner } = await actOut();
    const oldestFirst = (await readLog(owner.apiKey)).reverse();
    let previous = "0".repeat(64);
    for (const event of oldestFirst) {
      expect(event.previousHash).toBe(previous);
      expect(event.hash).toBe(sha256(renderAuditText(owner.id, event)));
      previous = event.hash;
    }
    expect(await checkAuditChain(owner.id, oldestFirst, sha256)).toMatchObject({
      entries: oldestFirst.length,
      fault: null,
    });
  });

  it("can be asked for one kind of act [D4-audit-log]", async () => {
    const { owner } = await actOut();
    const kinds = (events: readonly AuditEvent[]) => [...new Set(events.map(({ action }) => action))].sort();
    expect(kinds(await readLog(owner.apiKey, "&action=api_key.revoked"))).toEqual(["api_key.revoked"]);
    const keys = kinds(await readLog(owner.apiKey, "&action=api_key"));
    expect(keys.length).toBeGreaterThan(1);
    expect(keys.every((action) => action.startsWith("api_key."))).toBe(true);
    expectError(await service().ask("GET", "/api/audit-log?action=%25"), 400, "validation_failed");
  });

  it("is the owner's alone, for keys that may read it [D4-owner-only-audit]", async () => {
    const agent = await service().inviteAgent();
    expectError(await service().ask("GET", "/api/audit-log", { key: agent.key }), 403, "owner_only");
    const { server, owner } = service();
    const reader = await createKey(server.baseUrl, owner.apiKey, { name: "reader", scopes: ["audit:read"] });
    expectStatus(await service().ask("GET", "/api/audit-log", { key: reader.key }), 200);
    const other = await createKey(server.baseUrl, owner.apiKey, { name: "other", scopes: ["files:read"] });
    expectError(await service().ask("GET", "/api/audit-log", { key: other.key }), 403, "missing_scope");
  });
});

describe("an edited row", () => {
  it("is named by the operator's command, and by whoever reads the log [D4-audit-log D1-changes-audit]", async () => {
    const { owner } = await actOut();
    const verify = (...more: readonly string[]) =>
      runOperator(["audit", "verify", "--account", owner.id, ...more], service().variables);
    const intact = await verify();
    expect([intact.code, intact.stdout]).toEqual([0, expect.stringContaining(`${owner.id}: intact`)]);

    const events = await readLog(owner.apiKey);
    const edited = events.find(({ action }) => action === "api_key.revoked");
    const forge = "UPDATE changes SET action = 'api_key.created' WHERE id = ?";
    await runSql(service().dataDirectory, forge, String(edited?.id));
    const found = await verify("--json");
    expect(found.code).toBe(1);
    expect(JSON.parse(found.stdout)).toMatchObject({
      accountId: owner.id,
      intact: false,
      fault: { sequence: edited?.sequence, id: edited?.id, kind: "altered" },
    });
    const check = await checkAuditChain(owner.id, (await readLog(owner.apiKey)).reverse(), sha256);
    expect(check.fault).toMatchObject({ sequence: edited?.sequence, id: edited?.id, kind: "altered" });
  });
});
