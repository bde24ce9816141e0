import { describe, expect, it } from "vitest";
import { openTestApp, type TestApp } from "../../app.test-kit.ts";
import { hashAccessCode } from "../access-codes/store.ts";
import {
  actionsOf,
  addAccessCode,
  countRows,
  outcomeOf,
  PASSWORD,
  signUpWithPassword,
  tally,
  tryAccess,
} from "./accounts.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const service = ofEachTest(openTestApp);

const DAY = 86_400_000;
const AT_ONCE = process.env["COFFER_TEST_COUNTS"] === "full" ? 50 : 8;

const signUp = (service: TestApp, accessCode: string, more: object = {}) =>
  service.ask("POST", "/api/auth/signup", {
    json: { email: "ada@example.test", password: PASSWORD, accessCode, ...more },
  });

async function usesLeft({ deps: { database } }: TestApp, code: string): Promise<number | undefined> {
  const query = database.build.selectFrom("access_codes").select("uses_left").where("hash", "=", hashAccessCode(code));
  return (await database.first(query))?.uses_left;
}

const isValid = async (service: TestApp, code: string): Promise<unknown> =>
  (await service.ask("POST", "/api/auth/check-access-code", { json: { code } })).body["valid"];

describe("a sign-up", () => {
  it("makes an unverified account on the free plan, asks for its mail, and is signed in [D3-signup S5.5-access-code D1-open-sign-in S4.2-verify-token-mailed]", async () => {
    const code = await addAccessCode(service);
    const answer = await signUp(service, code, { name: "Ada" });
    expect(answer.status).toBe(201);
    expect(answer.headers["cache-control"]).toBe("no-store");
    expect(answer.body).toMatchObject({
      user: { email: "ada@example.test", emailVerified: false, name: "Ada", accessLevel: "owner", plan: "free" },
      expiresIn: 900,
      refreshExpiresIn: 30 * 86_400,
    });
    expect(await tryAccess(service, String(answer.body["accessToken"]))).toBe(200);
    const { id } = answer.body["user"] as { id: string };
    expect(await actionsOf(service, id)).toEqual(["account.created", "vault.created", "session.created"]);
    const { database } = service.deps;
    expect(await database.all(database.build.selectFrom("mail_requests").select(["purpose", "email"]))).toEqual([
      { purpose: "verify", email: "ada@example.test" },
    ]);
    expect(await usesLeft(service, code)).toBe(0);
  });

  it("takes the address in any case as one account", async () => {
    const code = await addAccessCode(service, { uses: 2 });
    expect((await signUp(service, code, { email: "Ada@Example.TEST" })).body).toMatchObject({
      user: { email: "ada@example.test" },
    });
    expect(outcomeOf(await signUp(service, code))).toBe("409 email_exists");
  });

  it("is refused without a usable code, before any row [D3-signup S5.5-access-code D3-access-codes]", async () => {
    const now = service.clock.now();
    const codes = [
      "AAAA-BBBB-CCCC-DDDD-EEEE",
      "",
      await addAccessCode(service, { uses: 0 }),
      await addAccessCode(service, { expiresAt: now }),
      await addAccessCode(service, { revokedAt: now }),
    ];
    for (const code of codes) {
      expect(await isValid(service, code)).toBe(code === "" ? undefined : false);
      expect(outcomeOf(await signUp(service, code))).toBe(
        code === "" ? "400 validation_failed" : "403 access_code_invalid",
      );
    }
    const tables = ["accounts", "vaults", "sessions", "changes", "mail_requests"] as const;
    for (const table of tables) expect(await countRows(service, table)).toBe(0);
  });

  it("needs no code where the operator switched them off, and uses none up [D3-access-codes-off]", async () => {
    await using service = await openTestApp({ environment: { SERVICE_ACCESS_CODES: "off" } });
    const code = await addAccessCode(service);
    const json = { email: "ada@example.test", password: PASSWORD };
    expect(outcomeOf(await service.ask("POST", "/api/auth/signup", { json }))).toBe("201");
    expect(outcomeOf(await signUp(service, code, { email: "bea@example.test" }))).toBe("201");
    expect(outcomeOf(await signUp(service, "nobody's", { email: "cid@example.test" }))).toBe("201");
    for (const each of [code, "nobody's"]) expect(await isValid(service, each)).toBe(true);
    expect(await usesLeft(service, code)).toBe(1);
  });

  it("without any code is refused like one with a wrong one, unless they are switched off [D3-access-codes-off]", async () => {
    for (const environment of [{}, { SERVICE_ACCESS_CODES: "required" }]) {
      await using service = await openTestApp({ environment });
      const json = { email: "ada@example.test", password: PASSWORD };
      const refused = await service.ask("POST", "/api/auth/signup", { json });
      expect([outcomeOf(refused), refused.body["error"]]).toEqual([
        "403 access_code_invalid",
        "The access code is missing",
      ]);
      const wrong = await signUp(service, "AAAA-BBBB-CCCC-DDDD-EEEE");
      expect(wrong.body["error"]).toMatch(/^The access code is not valid: /);
      expect(await countRows(service, "accounts")).toBe(0);
    }
  });

  it("leaves the code unused when it is refused for another reason", async () => {
    const { email } = await signUpWithPassword(service);
    const code = await addAccessCode(service);
    expect(outcomeOf(await signUp(service, code, { email }))).toBe("409 email_exists");
    expect(outcomeOf(await signUp(service, "no-such-code", { email }))).toBe("403 access_code_invalid");
    expect(outcomeOf(await signUp(service, code, { password: "passwordpassword" }))).toBe("400 weak_password");
    expect(outcomeOf(await signUp(service, code, { password: "ada at example test" }))).toBe("400 weak_password");
    expect(outcomeOf(await signUp(service, code, { password: "too short" }))).toBe("400 validation_failed");
    expect(await usesLeft(service, code)).toBe(1);
    expect(outcomeOf(await signUp(service, code))).toBe("201");
  });

  it("shares the last use of a code with nobody", async () => {
    const code = await addAccessCode(service, { uses: 2 });
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, number) => signUp(service, code, { email: `ada${number}@example.test` })),
    );
    expect(tally(answers.map(outcomeOf))).toEqual({ "201": 2, "403 access_code_invalid": AT_ONCE - 2 });
    expect(await countRows(service, "accounts")).toBe(2);
    expect(await usesLeft(service, code)).toBe(0);
  });

  it("of one address many times at once makes one account and uses the code once", async () => {
    const code = await addAccessCode(service, { uses: 100 });
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => signUp(service, code)));
    expect(tally(answers.map(outcomeOf))).toEqual({ "201": 1, "409 email_exists": AT_ONCE - 1 });
    expect(await usesLeft(service, code)).toBe(99);
    expect(await countRows(service, "sessions")).toBe(1);
  });
});

describe("an access code", () => {
  it("is checked without being used up [D3-check-access-code S4.2-check-access-code]", async () => {
    const code = await addAccessCode(service);
    for (let time = 0; time < 3; time += 1) expect(await isValid(service, code)).toBe(true);
    expect(outcomeOf(await signUp(service, code))).toBe("201");
    expect(await isValid(service, code)).toBe(false);
  });

  it("counts up to the millisecond before it expires, and when it was used a clock that is set back brings nothing back", async () => {
    const code = await addAccessCode(service, { uses: 2, expiresAt: service.clock.now() + DAY });
    service.clock.advance(DAY - 1);
    expect(await isValid(service, code)).toBe(true);
    expect(outcomeOf(await signUp(service, code))).toBe("201");
    service.clock.advance(1);
    expect(await isValid(service, code)).toBe(false);
    expect(outcomeOf(await signUp(service, code, { email: "bob@example.test" }))).toBe("403 access_code_invalid");
    const single = await addAccessCode(service);
    expect(outcomeOf(await signUp(service, single, { email: "eve@example.test" }))).toBe("201");
    service.clock.advance(-400 * DAY);
    expect(await isValid(service, single)).toBe(false);
  });

  it("may be typed in any case, with other separators, and with letters for the digits they look like", async () => {
    const code = await addAccessCode(service);
    expect(code).toMatch(/^([0-9A-HJKMNP-TV-Z]{4}-){4}[0-9A-HJKMNP-TV-Z]{4}$/);
    const typed = code.toLowerCase().replaceAll("-", " ").replaceAll("0", "o").replaceAll("1", "l");
    expect(await isValid(service, ` ${typed} `)).toBe(true);
    expect(await isValid(service, code.slice(1))).toBe(false);
  });
});
