import { describe, expect, it } from "vitest";
import { agedToken, newJwtKey, readToken, signToken } from "../kit/access-token.ts";
import { freshEmail } from "../kit/account.ts";
import { expectError, expectStatus, fieldsAt, objectIn, UUID } from "../kit/answers.ts";
import { send } from "../kit/http.ts";
import { logIn, OTHER_PASSWORD, tokensIn } from "../kit/identity.ts";
import { startServerProcess } from "../kit/server-process.ts";
import { useService } from "../kit/service.ts";

const key1 = newJwtKey("k1");
const key2 = newJwtKey("k2");
const service = useService({ SERVICE_JWT_KEYS: key1.entry });

const askWith = (key: string) => service().ask("GET", "/api/account", { key });

describe("sign-in", () => {
  it("by e-mail and password answers 200 with the user and a session [D3-login S5.5-sign-in D1-open-sign-in]", async () => {
    const { email, id } = await service().join();
    const fields = fieldsAt(await logIn(service().server.baseUrl, email.toUpperCase()), 200);
    expect(Object.keys(fields).sort()).toEqual([
      "accessToken",
      "expiresIn",
      "refreshExpiresIn",
      "refreshToken",
      "user",
    ]);
    expect(fields["expiresIn"]).toBe(900);
    expect(objectIn(fields, "user")).toMatchObject({ id, email });
  });

  it("answers a wrong password and an unknown e-mail alike", async () => {
    const { email } = await service().join();
    const { baseUrl } = service().server;
    const wrong = await logIn(baseUrl, email, OTHER_PASSWORD);
    const unknown = await logIn(baseUrl, freshEmail(), OTHER_PASSWORD);
    expect(expectError(wrong, 401, "wrong_credentials")).toBe(expectError(unknown, 401, "wrong_credentials"));
    const names = (headers: Headers) => [...headers.keys()].sort();
    expect(names(wrong.headers)).toEqual(names(unknown.headers));
  });

  it("is closed to an account without a password", async () => {
    expectError(await logIn(service().server.baseUrl, service().owner.email), 401, "wrong_credentials");
  });
});

describe("an access token", () => {
  it("is an HS256 JWT of 15 minutes with the claims that were decided [S2.7-access-token S5.4-access-token S8-access-token D3-jwt-claims]", async () => {
    const { accessToken, id } = await service().join();
    const { header, claims } = readToken(accessToken);
    expect(header).toMatchObject({ alg: "HS256", kid: "k1" });
    expect(claims).toEqual({
      sub: id,
      sid: expect.stringMatching(UUID),
      iat: expect.any(Number),
      exp: Number(claims["iat"]) + 900,
      jti: expect.any(String),
      typ: "access",
    });
    expect(Math.abs(Number(claims["iat"]) - Date.now() / 1000)).toBeLessThan(60);
    expect(signToken({ header, claims }, key1.secret)).toBe(accessToken);
  });

  it("is a bearer credential of the owner with all scopes [S5.2-bearer-access-token S5.4-access-token]", async () => {
    const { accessToken } = await service().join();
    const { account, credential } = fieldsAt(await askWith(accessToken), 200);
    expect(account).toMatchObject({ accessLevel: "owner" });
    expect(credential).toMatchObject({ kind: "session", scopes: null, vaultIds: null });
    for (const path of ["/api/auth/api-keys", "/api/auth/sessions", "/api/files", "/api/audit-log"])
      expectStatus(await service().ask("GET", path, { key: accessToken }), 200);
  });

  it("is 401 once it has expired [S7-401-jwt S2.7-access-token S8-access-token]", async () => {
    const { accessToken } = await service().join();
    expectStatus(await askWith(agedToken(accessToken, 870, key1.secret)), 200);
    const refused = await askWith(agedToken(accessToken, 901, key1.secret));
    expectError(refused, 401, "invalid_credential");
    expect(refused.headers.get("www-authenticate")).toBe('Bearer error="invalid_token"');
  });

  it("is 401 when anybody else made or changed it", async () => {
    const { accessToken } = await service().join();
    const { accessToken: other } = await service().join();
    const { header, claims } = readToken(accessToken);
    const [head = "", body = "", signature = ""] = accessToken.split(".");
    const forged = [
      `${head}.${body}.`,
      `${head}.${other.split(".")[1] ?? ""}.${signature}`,
      signToken({ header: { ...header, alg: "none" }, claims }, key1.secret),
      signToken({ header, claims }, key2.secret),
      signToken({ header: { ...header, kid: "k2" }, claims }, key2.secret),
      signToken({ header, claims: { ...claims, typ: "refresh" } }, key1.secret),
      signToken({ header, claims: { ...claims, sid: service().owner.id } }, key1.secret),
      signToken({ header, claims: { ...claims, sub: service().owner.id } }, key1.secret),
    ];
    for (const token of forged) expectError(await askWith(token), 401, "invalid_credential");
    expectStatus(await askWith(accessToken), 200);
  });

  it("stays good while its key is rotated out, and is refused without the key [D3-jwt-rotation]", async () => {
    const { accessToken, email } = await service().join();
    const both = { ...service().variables, SERVICE_JWT_KEYS: `${key2.entry},${key1.entry}` };
    await using rotating = await startServerProcess(both);
    expectStatus(await send(rotating.baseUrl, "/api/account", { key: accessToken }), 200);
    const { accessToken: newer } = tokensIn(await logIn(rotating.baseUrl, email));
    expect(readToken(newer).header["kid"]).toBe("k2");
    await using rotated = await startServerProcess({ ...both, SERVICE_JWT_KEYS: key2.entry });
    expectStatus(await send(rotated.baseUrl, "/api/account", { key: newer }), 200);
    expectError(await send(rotated.baseUrl, "/api/account", { key: accessToken }), 401, "invalid_credential");
  });
});
