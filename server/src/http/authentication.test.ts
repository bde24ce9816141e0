import { createHmac, createSecretKey, generateKeyPairSync } from "node:crypto";
import { Readable } from "node:stream";
import { jwtVerify, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import type { JwtKey } from "../config.ts";
import { actionsOf, tryAccess } from "../features/auth/accounts.test-kit.ts";
import { addSession } from "../features/sessions/sessions.test-kit.ts";
import { openTestApp, type TestApp } from "../app.test-kit.ts";
import { createAuthenticator } from "./authentication.ts";
import { ofEachTest } from "../each.test-kit.ts";
import { codeOf } from "../features/service.test-kit.ts";

const service = ofEachTest(openTestApp);

const ORIGIN = { requestId: "r", address: "127.0.0.1", userAgent: null };
const OLD: JwtKey = { kid: "old", secret: new Uint8Array(32).fill(1) };
const NEW: JwtKey = { kid: "new", secret: new Uint8Array(32).fill(2) };

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const decode = (token: string, part: 0 | 1): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split(".")[part] ?? "", "base64url").toString()) as Record<string, unknown>;

/** A token with any header and claims, signed with HMAC. */
function forge(header: object, claims: object, { secret }: JwtKey, algorithm = "sha256"): string {
  const signed = `${encode(header)}.${encode(claims)}`;
  return `${signed}.${createHmac(algorithm, secret).update(signed).digest("base64url")}`;
}

/** What a server with these keys says to the text: "ok" or the error's code. */
async function verdictOf({ deps }: TestApp, text: string, jwtKeys = deps.jwtKeys, clock = deps.clock): Promise<string> {
  const authenticator = createAuthenticator({ ...deps, jwtKeys, clock });
  return codeOf(authenticator.authenticate({ authorization: `Bearer ${text}` }, ORIGIN));
}

describe("an access token", () => {
  it("is an HS256 JWT of 15 minutes that names account, session, itself and its key [D3-jwt-claims S2.7-access-token S5.4-access-token S8-access-token]", async () => {
    const { accessToken, accountId, sessionId } = await addSession(service.deps);
    const [key] = service.deps.jwtKeys;
    const now = Math.floor(service.clock.now() / 1000);
    expect(decode(accessToken, 0)).toEqual({ alg: "HS256", kid: key?.kid, typ: "JWT" });
    const claims = decode(accessToken, 1);
    expect(claims).toEqual({
      sub: accountId,
      sid: sessionId,
      iat: now,
      exp: now + 900,
      typ: "access",
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
    });
    // An implementation that is not ours agrees with the signature.
    const { payload } = await jwtVerify(accessToken, createSecretKey(key?.secret ?? new Uint8Array()), {
      algorithms: ["HS256"],
      currentDate: new Date(service.clock.now()),
    });
    expect(payload).toEqual(claims);
  });

  it("makes its caller the owner with all scopes, as the session [S5.2-bearer-access-token]", async () => {
    const { accessToken, accountId, sessionId } = await addSession(service.deps);
    const authenticator = createAuthenticator(service.deps);
    const headers = { authorization: `bearer  ${accessToken}` };
    for (let time = 0; time < 2; time += 1) {
      expect(await authenticator.authenticate(headers, ORIGIN)).toEqual({
        kind: "session",
        accountId,
        keyId: null,
        sessionId,
        name: null,
        accessLevel: "owner",
        scopes: null,
        vaultIds: null,
        chainAddress: null,
        expiresAt: service.clock.now() + 900_000,
        origin: ORIGIN,
        budgets: [],
      });
    }
    const { body } = await service.ask("GET", "/api/account", { key: accessToken });
    expect(body["credential"]).toMatchObject({ kind: "session", id: sessionId, scopes: null, vaultIds: null });
  });

  it("holds to the millisecond before its end, never at it, and not again when the clock is set back [S7-401-jwt]", async () => {
    const { accessToken } = await addSession(service.deps);
    service.clock.advance(900_000 - 1);
    expect(await tryAccess(service, accessToken)).toBe(200);
    service.clock.advance(1);
    expect(await tryAccess(service, accessToken)).toBe(401);
    service.clock.advance(-1);
    expect(await tryAccess(service, accessToken)).toBe(401);
  });

  it("of a clock that is ahead is taken up to 5 seconds", async () => {
    const { accessToken } = await addSession(service.deps);
    const at = (back: number) => ({ ...service.clock, now: () => service.clock.now() - back });
    expect(await verdictOf(service, accessToken, service.deps.jwtKeys, at(5_000))).toBe("ok");
    expect(await verdictOf(service, accessToken, service.deps.jwtKeys, at(5_001))).toBe("invalid_credential");
  });

  it("is signed with the first key and accepted with any; a key that was removed ends its tokens [D3-jwt-rotation]", async () => {
    await using service = await openTestApp({ replace: () => ({ jwtKeys: [OLD] }) });
    const before = await addSession(service.deps);
    const after = await addSession({ ...service.deps, jwtKeys: [NEW, OLD] });
    expect(decode(after.accessToken, 0)).toMatchObject({ kid: "new" });
    for (const keys of [
      [NEW, OLD],
      [OLD, NEW],
    ]) {
      expect(await verdictOf(service, before.accessToken, keys)).toBe("ok");
      expect(await verdictOf(service, after.accessToken, keys)).toBe("ok");
    }
    expect(await verdictOf(service, before.accessToken, [NEW])).toBe("invalid_credential");
    expect(await verdictOf(service, after.accessToken, [OLD])).toBe("invalid_credential");
    // The same name for another key is another key.
    expect(await verdictOf(service, before.accessToken, [{ ...NEW, kid: "old" }])).toBe("invalid_credential");
  });

  it("is no longer accepted when its session, or its account's claim to it, is not there", async () => {
    await using service = await openTestApp({ replace: () => ({ jwtKeys: [NEW] }) });
    const [mine, theirs] = [await addSession(service.deps), await addSession(service.deps)];
    const claims = decode(mine.accessToken, 1);
    const header = { alg: "HS256", kid: "new" };
    expect(await verdictOf(service, forge(header, claims, NEW))).toBe("ok");
    const others = { ...claims, sid: theirs.sessionId };
    expect(await verdictOf(service, forge(header, others, NEW))).toBe("invalid_credential");
    const { database } = service.deps;
    await database.run(database.build.deleteFrom("sessions").where("id", "=", mine.sessionId));
    expect(await verdictOf(service, mine.accessToken)).toBe("invalid_credential");
  });
});

describe("anything else in its place", () => {
  it("is refused in one and the same way [S5.3-401 D1-401-challenge S5.4-earlier-edition]", async () => {
    await using service = await openTestApp({ replace: () => ({ jwtKeys: [NEW, OLD] }) });
    const { accessToken } = await addSession(service.deps);
    const [header, payload, signature] = accessToken.split(".") as [string, string, string];
    const claims = decode(accessToken, 1);
    const good = { alg: "HS256", kid: "new" };
    const flip = (text: string): string => (text.startsWith("A") ? "B" : "A") + text.slice(1);
    const without = (name: string): object =>
      Object.fromEntries(Object.entries(claims).filter(([key]) => key !== name));
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const signedElsewhere = await new SignJWT(claims).setProtectedHeader({ alg: "RS256", kid: "new" }).sign(privateKey);
    const texts: Record<string, string> = {
      "alg none": `${encode({ alg: "none" })}.${payload}.`,
      "alg none with a signature": `${encode({ alg: "none", kid: "new" })}.${payload}.${signature}`,
      "alg none, signed": forge({ alg: "none", kid: "new" }, claims, NEW),
      "an identity provider's RS256": signedElsewhere,
      "RS256 in name": forge({ ...good, alg: "RS256" }, claims, NEW),
      HS512: forge({ ...good, alg: "HS512" }, claims, NEW, "sha512"),
      "HS384 in name": forge({ ...good, alg: "HS384" }, claims, NEW),
      "alg in lower case": forge({ ...good, alg: "hs256" }, claims, NEW),
      "no alg": forge({ kid: "new" }, claims, NEW),
      "no kid": forge({ alg: "HS256" }, claims, NEW),
      "an unknown kid": forge({ ...good, kid: "other" }, claims, NEW),
      "another key's kid": forge({ ...good, kid: "old" }, claims, NEW),
      "a kid that names a member of objects": forge({ ...good, kid: "__proto__" }, claims, NEW),
      "a key of its own": forge({ ...good, jwk: { kty: "oct", k: "AAAA" } }, claims, {
        ...NEW,
        secret: Buffer.from("AAAA", "base64url"),
      }),
      "an unknown critical header": forge({ ...good, crit: ["b64"], b64: false }, claims, NEW),
      "another type": forge(good, { ...claims, typ: "refresh" }, NEW),
      "no type": forge(good, without("typ"), NEW),
      "no session": forge(good, without("sid"), NEW),
      "no account": forge(good, without("sub"), NEW),
      "no id": forge(good, without("jti"), NEW),
      "no end": forge(good, without("exp"), NEW),
      "an end that is a text": forge(good, { ...claims, exp: "9999999999" }, NEW),
      "no beginning": forge(good, without("iat"), NEW),
      "another payload": `${header}.${encode({ ...claims, exp: 9_999_999_999 })}.${signature}`,
      "another signature": `${header}.${payload}.${flip(signature)}`,
      "another header": `${encode({ ...good, x: 1 })}.${payload}.${signature}`,
      "a payload that is no JSON": forge(good, claims, NEW).replace(payload, encode("text")),
      "a cut signature": accessToken.slice(0, -1),
      "an empty signature": `${header}.${payload}.`,
      "a part too many": `${accessToken}.${signature}`,
      "two parts": `${header}.${payload}`,
      "five parts": `${accessToken}.${header}.${payload}`,
      "a long text": "a".repeat(8_000),
    };
    for (const [name, text] of Object.entries(texts)) {
      const answer = await service.ask("GET", "/api/account", { key: text });
      expect([name, answer.status, answer.headers["x-error-code"]]).toEqual([name, 401, "invalid_credential"]);
      expect(answer.body).toEqual({ error: "Missing or invalid credential" });
      expect(answer.headers["www-authenticate"]).toBe('Bearer error="invalid_token"');
    }
    expect(await tryAccess(service, accessToken)).toBe(200);
    const logged = service.logged();
    for (const part of [payload, signature]) expect(logged).not.toContain(part);
  });

  it("is refused when the signature has spare bits set: one token has one text", async () => {
    const { accessToken } = await addSession(service.deps);
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const last = alphabet.indexOf(accessToken.slice(-1));
    const twin = accessToken.slice(0, -1) + (alphabet[last ^ 1] ?? "");
    expect(await tryAccess(service, accessToken)).toBe(200);
    expect(await tryAccess(service, twin)).toBe(401);
  });
});

describe("a credential is asked for again", () => {
  it("by its session, which outlives the token that a transfer began with", async () => {
    const { accessToken } = await addSession(service.deps);
    const authenticator = createAuthenticator(service.deps);
    const principal = await authenticator.authenticate({ authorization: `Bearer ${accessToken}` }, ORIGIN);
    service.clock.advance(901_000);
    await expect(authenticator.recheck(principal)).resolves.toBe("owner");
    service.clock.advance(30 * 86_400_000);
    await expect(authenticator.recheck(principal)).rejects.toMatchObject({ code: "invalid_credential" });
  });

  it("when the body has come: what was revoked or ended meanwhile changes nothing any more [D4-in-flight-cut]", async () => {
    const { accessToken, accountId, sessionId } = await addSession(service.deps);
    const made = await service.newKey(accessToken);
    const begin = (key: string) => {
      const payload = new Readable({ read: () => undefined });
      const headers = {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "transfer-encoding": "chunked",
      };
      const request = service.app.inject({ method: "PATCH", url: "/api/account", headers, payload });
      return { payload, status: request.then(({ statusCode }) => statusCode) };
    };
    const slow = [begin(made.key), begin(accessToken)];
    for (const path of [`api-keys/${made.id}`, `sessions/${sessionId}`]) {
      expect((await service.ask("DELETE", `/api/auth/${path}`, { key: accessToken })).status).toBe(204);
    }
    for (const { payload } of slow) {
      payload.push(JSON.stringify({ name: "Mallory" }));
      payload.push(null);
    }
    expect(await Promise.all(slow.map(({ status }) => status))).toEqual([401, 401]);
    expect(await actionsOf(service, accountId)).not.toContain("account.updated");
  });
});
