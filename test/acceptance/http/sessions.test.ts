import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { readToken } from "../kit/access-token.ts";
import { revokeKey } from "../kit/account.ts";
import { expectError, expectStatus, fieldsAt, listIn, textIn, TIMESTAMP, UUID, type Fields } from "../kit/answers.ts";
import { filesHolding, querySql, runSql } from "../kit/data-directory.ts";
import { logIn, refresh, tokensIn, type Tokens } from "../kit/identity.ts";
import { useService } from "../kit/service.ts";

const DAY = 86_400_000;
const service = useService();

const again = (refreshToken: string) => refresh(service().server.baseUrl, refreshToken);
const renew = async (refreshToken: string): Promise<Tokens> => {
  const answer = await again(refreshToken);
  expectStatus(answer, 200);
  return tokensIn(answer);
};
const askWith = (key: string) => service().ask("GET", "/api/account", { key });
const logOut = (refreshToken: string) => service().ask("POST", "/api/auth/logout", { key: "", body: { refreshToken } });
const sessionsOf = async (key: string): Promise<readonly Fields[]> =>
  listIn(fieldsAt(await service().ask("GET", "/api/auth/sessions", { key }), 200), "sessions");
const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Every token of the session is dead. */
async function expectDead(...pairs: readonly Tokens[]): Promise<void> {
  for (const { accessToken, refreshToken } of pairs) {
    expectError(await askWith(accessToken), 401, "invalid_credential");
    expectError(await again(refreshToken), 401, "session_ended");
  }
}

describe("a refresh", () => {
  it("answers a new access token and a new refresh token [S4.2-refresh D3-refresh S3-refresh-rotated S5.4-refresh-token]", async () => {
    const first = await service().join();
    const answer = await again(first.refreshToken);
    const fields = fieldsAt(answer, 200);
    expect(Object.keys(fields).sort()).toEqual(["accessToken", "expiresIn", "refreshExpiresIn", "refreshToken"]);
    expect(fields["expiresIn"]).toBe(900);
    const second = tokensIn(answer);
    expect(second.refreshToken).not.toBe(first.refreshToken);
    expect(second.accessToken).not.toBe(first.accessToken);
    expect(readToken(second.accessToken).claims["sid"]).toBe(readToken(first.accessToken).claims["sid"]);
    expectStatus(await askWith(second.accessToken), 200);
  });

  it("with a token that was rotated ends the whole family, the newest tokens included [S3-refresh-reuse S5.4-family-reuse S2.7-refresh-token D3-refresh]", async () => {
    const first = await service().join();
    const second = await renew(first.refreshToken);
    const third = await renew(second.refreshToken);
    const elsewhere = tokensIn(await logIn(service().server.baseUrl, first.email));
    expectError(await again(first.refreshToken), 401, "session_ended");
    await expectDead(third, second, first);
    expectStatus(await askWith(elsewhere.accessToken), 200);
    await renew(elsewhere.refreshToken);
  });

  it("of one token twenty times at once mints once, and the family is dead [S3-refresh-reuse]", async () => {
    const first = await service().join();
    const answers = await Promise.all(Array.from({ length: 20 }, () => again(first.refreshToken)));
    const minted = answers.filter(({ status }) => status === 200);
    expect(minted).toHaveLength(1);
    await expectDead(first, ...minted.map(tokensIn));
  });

  it("with a token of nobody is 401, with none 400", async () => {
    expectError(await again("A".repeat(43)), 401, "session_ended");
    const body = {};
    expectError(await service().ask("POST", "/api/auth/refresh", { key: "", body }), 400, "validation_failed");
  });

  it("after 30 days is 401 [S3-refresh-ends S8-refresh-token S2.7-refresh-token D3-refresh]", async () => {
    const pair = await service().join();
    const [row] = await querySql(
      service().dataDirectory,
      "SELECT * FROM refresh_tokens WHERE hash = ?",
      hashOf(pair.refreshToken),
    );
    expect(Number(row?.["expires_at"]) - Number(row?.["created_at"])).toBe(30 * DAY);
    const age = "UPDATE refresh_tokens SET expires_at = ? WHERE hash = ?";
    await runSql(service().dataDirectory, age, Date.now() - 1, hashOf(pair.refreshToken));
    expectError(await again(pair.refreshToken), 401, "session_ended");
  });
});

describe("a refresh token", () => {
  it("is opaque and kept as its SHA-256 alone [S2.7-refresh-token D1-hashes-codes]", async () => {
    const { refreshToken } = await service().join();
    expect(refreshToken).toMatch(/^[\w-]{43,}$/);
    const { dataDirectory, server } = service();
    const rows = await querySql(dataDirectory, "SELECT * FROM refresh_tokens WHERE hash = ?", hashOf(refreshToken));
    expect(rows).toHaveLength(1);
    expect(await filesHolding(dataDirectory, refreshToken)).toEqual([]);
    expect(server.printed()).not.toContain(refreshToken);
  });
});

describe("log-out", () => {
  it("is 204 and ends the family at once; a second one and an unknown token are 204 too [D3-logout S3-refresh-ends]", async () => {
    const first = await service().join();
    const second = await renew(first.refreshToken);
    expectStatus(await logOut(second.refreshToken), 204);
    await expectDead(second);
    expectStatus(await logOut(second.refreshToken), 204);
    expectStatus(await logOut("A".repeat(43)), 204);
  });
});

describe("sessions", () => {
  it("are listed, newest first, with this one marked [D3-sessions]", async () => {
    const { accessToken, email } = await service().join();
    const newer = tokensIn(await logIn(service().server.baseUrl, email));
    const sessions = await sessionsOf(newer.accessToken);
    expect(sessions).toEqual(
      [true, false].map((current) => ({
        id: expect.stringMatching(UUID),
        method: "password",
        current,
        userAgent: expect.any(String),
        createdAt: expect.stringMatching(TIMESTAMP),
        lastUsedAt: expect.stringMatching(TIMESTAMP),
        expiresAt: expect.stringMatching(TIMESTAMP),
      })),
    );
    const lifetimes = sessions.map(
      (one) => Date.parse(textIn(one, "expiresAt")) - Date.parse(textIn(one, "lastUsedAt")),
    );
    expect(lifetimes).toEqual([30 * DAY, 30 * DAY]);
    expect((await sessionsOf(accessToken)).map(({ current }) => current)).toEqual([false, true]);
  });

  it("are ended one by one, which holds on the next request; a second time is 204 too [D3-sessions D3-jwt-session D1-second-delete-kept-more]", async () => {
    const first = await service().join();
    const other = tokensIn(await logIn(service().server.baseUrl, first.email));
    const id = String(readToken(other.accessToken).claims["sid"]);
    const end = () => service().ask("DELETE", `/api/auth/sessions/${id}`, { key: first.accessToken });
    expectStatus(await askWith(other.accessToken), 200);
    expectStatus(await end(), 204);
    await expectDead(other);
    expectStatus(await end(), 204);
    expect((await sessionsOf(first.accessToken)).map((one) => one["id"])).not.toContain(id);
    expectStatus(await askWith(first.accessToken), 200);
  });

  it("of another account are not there: 404 [D1-foreign-object-404]", async () => {
    const [mine, theirs] = [await service().join(), await service().join()];
    const path = `/api/auth/sessions/${String(readToken(theirs.accessToken).claims["sid"])}`;
    expectError(await service().ask("DELETE", path, { key: mine.accessToken }), 404, "not_found");
    expectStatus(await askWith(theirs.accessToken), 200);
  });

  it("and the account's address are the owner's alone [D4-owner-only-sessions]", async () => {
    const agent = await service().inviteAgent();
    const asAgent = (method: string, path: string, body?: object) =>
      service().ask(method, path, { key: agent.key, ...(body === undefined ? {} : { body }) });
    expectError(await asAgent("GET", "/api/auth/sessions"), 403, "owner_only");
    expectError(await asAgent("DELETE", `/api/auth/sessions/${service().owner.id}`), 403, "owner_only");
    expectError(await asAgent("POST", "/api/account/link-chain/challenge"), 403, "owner_only");
    const body = await agent.chain.linking(service().owner.id, "nonce");
    expectError(await asAgent("POST", "/api/account/link-chain", body), 403, "owner_only");
    await revokeKey(service().server.baseUrl, service().owner.apiKey, agent.keyId);
  });
});
