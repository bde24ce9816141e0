import { describe, expect, it } from "vitest";
import { openTestApp, type TestApp } from "../../app.test-kit.ts";
import {
  actionsOf,
  logInAgain,
  outcomeOf,
  PASSWORD,
  refresh,
  signUpWithPassword,
  tryAccess,
} from "../auth/accounts.test-kit.ts";
import { MAIL_TOKEN_LIFE, mintMailToken } from "./rules.ts";
import { mailToken, runMailJob, tokenIn } from "./mail.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const service = ofEachTest(openTestApp);

const FULL = process.env["COFFER_TEST_COUNTS"] === "full";
/** The rounds of a race: a verification costs a look-up, a reset 50 password hashes. */
const ROUNDS = FULL ? { verify: 200, reset: 20 } : { verify: 4, reset: 1 };
const CALLERS = 50;
const NEW_PASSWORD = "kettle orbit marble twelve";
const HOUR = 3_600_000;

const verify = (service: TestApp, token: string) => service.ask("POST", "/api/auth/verify-email", { json: { token } });
const reset = (service: TestApp, token: string, newPassword = NEW_PASSWORD) =>
  service.ask("POST", "/api/auth/reset-password", { json: { token, newPassword } });

const use = { verify, reset };
const REFUSED = "400 token_invalid";

async function isVerified(accessToken: string): Promise<unknown> {
  const { body } = await service.ask("GET", "/api/account", { key: accessToken });
  return (body["account"] as { emailVerified: unknown }).emailVerified;
}

function rowsOf<Name extends "mail_requests" | "mail_tokens">({ deps: { database } }: TestApp, name: Name) {
  return database.all(database.build.selectFrom(name).selectAll());
}

describe("asking for a mail", () => {
  it("answers and does the same for known and unknown addresses [D3-forgot-password] [D3-mail-from-queue] [S7-200-forgot-password] [S4.2-forgot-password]", async () => {
    const { email } = await signUpWithPassword(service);
    await runMailJob(service.deps);
    for (const path of ["forgot-password", "resend-verification"]) {
      const known = await service.ask("POST", `/api/auth/${path}`, { json: { email } });
      const unknown = await service.ask("POST", `/api/auth/${path}`, { json: { email: "nobody@example.test" } });
      expect([known.status, unknown.status]).toEqual([200, 200]);
      expect(unknown.text).toBe(known.text);
      expect(Object.keys(unknown.headers)).toEqual(Object.keys(known.headers));
    }
    const requests = await rowsOf(service, "mail_requests");
    expect(requests.map(({ purpose, attempts, email: to }) => [purpose, attempts, to])).toEqual([
      ["reset", 0, email],
      ["reset", 0, "nobody@example.test"],
      ["verify", 0, email],
      ["verify", 0, "nobody@example.test"],
    ]);
  });

  it.each([
    "",
    "nobody",
    "nobody@",
    " ",
    "\u0000",
    "\ud800",
    "Nobody <n@example.test>",
    "a".repeat(10_000),
    "Ä@example.test",
  ])("answers the same for what is no address: %j [D3-forgot-any-string S7-forgot-no-disclosure]", async (text) => {
    const ask = (email: string) => service.ask("POST", "/api/auth/forgot-password", { json: { email } });
    const [none, unknown] = [await ask(text), await ask("nobody@example.test")];
    expect([none.status, none.text]).toEqual([200, unknown.text]);
    expect(Object.keys(none.headers)).toEqual(Object.keys(unknown.headers));
    // The same work, and nothing of the text is kept.
    expect((await rowsOf(service, "mail_requests")).map(({ email }) => email)).toEqual(["", "nobody@example.test"]);
    await runMailJob(service.deps);
    expect(service.mails).toEqual([]);
    expect(await rowsOf(service, "mail_requests")).toEqual([]);
  });

  it("finds the account however its address is written", async () => {
    const { email } = await signUpWithPassword(service);
    await runMailJob(service.deps);
    const before = service.mails.length;
    await service.ask("POST", "/api/auth/forgot-password", { json: { email: email.toUpperCase() } });
    await runMailJob(service.deps);
    expect(service.mails.slice(before).map(({ to }) => to)).toEqual([email]);
  });

  it.each([[{}], [{ email: 1 }], [{ email: null }], [{ email: ["a@example.test"] }]])(
    "refuses what is no string: %j",
    async (json) => {
      expect(outcomeOf(await service.ask("POST", "/api/auth/forgot-password", { json }))).toBe("400 validation_failed");
    },
  );

  it("sends nothing to an unknown address and leaves nothing of it", async () => {
    for (const path of ["forgot-password", "resend-verification"]) {
      await service.ask("POST", `/api/auth/${path}`, { json: { email: "nobody@example.test" } });
    }
    await runMailJob(service.deps);
    expect(service.mails).toEqual([]);
    expect(await rowsOf(service, "mail_requests")).toEqual([]);
    expect(await rowsOf(service, "mail_tokens")).toEqual([]);
  });

  it("mails a link to the web application and the bare token [D0-app-url] [S4.2-reset-token-mailed] [S4.2-resend-verification]", async () => {
    await using service = await openTestApp({ environment: { SERVICE_APP_URL: "https://app.example.test/console/" } });
    const { email } = await signUpWithPassword(service);
    const tokens = {
      "verify-email": await mailToken(service, "verify", email),
      "reset-password": await mailToken(service, "reset", email),
    };
    for (const [page, token] of Object.entries(tokens)) {
      const mail = service.mails.find(({ text }) => text.includes(token));
      expect(mail?.to).toBe(email);
      expect(mail?.text).toContain(`\n\nhttps://app.example.test/console/${page}#token=${token}\n\n`);
      expect(mail?.text).toContain(`\n\n${token}\n\n`);
      expect(mail?.text).toMatch(page === "verify-email" ? /for 24 hours from now/ : /for one hour from now/);
      expect(mail?.text).toMatch(/If you did not ask for this, ignore this mail/);
      expect(mail?.subject).not.toContain(token);
    }
  });

  it("says nothing that the account's holder wrote: mails must not carry a stranger's words", async () => {
    const { email, accessToken } = await signUpWithPassword(service);
    const name = "Call 555-0100 to claim your prize";
    await service.ask("PATCH", "/api/account", { key: accessToken, json: { name } });
    await mailToken(service, "reset", email);
    for (const { subject, text } of service.mails) expect(subject + text).not.toContain("555");
  });

  it("stops silently after three mails of a kind to one address in an hour [D2-mail-operations]", async () => {
    await using service = await openTestApp({ environment: { SERVICE_RATE_MAIL_ADDRESS: "3" } });
    const { email } = await signUpWithPassword(service);
    await runMailJob(service.deps);
    const ask = (path: string) => service.ask("POST", `/api/auth/${path}`, { json: { email } });
    const answers = [];
    for (let at = 0; at < 5; at += 1) answers.push(await ask("forgot-password"));
    expect(new Set(answers.map(({ text, status }) => `${status} ${text}`)).size).toBe(1);
    expect(await rowsOf(service, "mail_requests")).toHaveLength(3);
    for (let at = 0; at < 5; at += 1) await ask("resend-verification");
    expect(await rowsOf(service, "mail_requests")).toHaveLength(6);
    service.clock.advance(HOUR);
    await ask("forgot-password");
    expect(await rowsOf(service, "mail_requests")).toHaveLength(7);
  });

  it("does not verify again what is verified", async () => {
    const { email } = await signUpWithPassword(service);
    await verify(service, await mailToken(service, "verify", email));
    const before = service.mails.length;
    await service.ask("POST", "/api/auth/resend-verification", { json: { email } });
    await runMailJob(service.deps);
    expect(service.mails).toHaveLength(before);
    expect(await rowsOf(service, "mail_requests")).toEqual([]);
  });

  it("tells who signs in at the identity provider so, instead of adding a password to the account", async () => {
    const { email, user } = await signUpWithPassword(service);
    await runMailJob(service.deps);
    const { database } = service.deps;
    const update = database.build.updateTable("accounts").where("id", "=", user.id);
    await database.run(update.set({ password_hash: null, idp_id: "subject", idp_issuer: "https://idp.example.test" }));
    await service.ask("POST", "/api/auth/forgot-password", { json: { email } });
    await runMailJob(service.deps);
    expect(service.mails.at(-1)?.text).toMatch(/sign in with your identity provider/);
    expect(service.mails.at(-1)?.text).not.toContain("token");
    expect((await rowsOf(service, "mail_tokens")).filter(({ purpose }) => purpose === "reset")).toEqual([]);
  });
});

describe("a reset token", () => {
  it("sets the password, ends every session and every other reset token, and does nothing else [D3-reset-password] [S3-password-reset] [S4.2-reset-password]", async () => {
    const account = await signUpWithPassword(service);
    const { email, user } = account;
    const other = await signUpWithPassword(service);
    const othersToken = await mailToken(service, "reset", other.email);
    const verification = await mailToken(service, "verify", email);
    const second = await logInAgain(service, email);
    const [older, token] = [await mailToken(service, "reset", email), await mailToken(service, "reset", email)];

    expect(outcomeOf(await reset(service, token))).toBe("200");

    for (const session of [account, second]) {
      expect(await tryAccess(service, session.accessToken)).toBe(401);
      expect(outcomeOf(await refresh(service, session.refreshToken))).toBe("401 session_ended");
    }
    expect(outcomeOf(await reset(service, token))).toBe(REFUSED);
    expect(outcomeOf(await reset(service, older))).toBe(REFUSED);
    const old = await service.ask("POST", "/api/auth/login", { json: { email, password: PASSWORD } });
    expect(outcomeOf(old)).toBe("401 wrong_credentials");
    const again = await logInAgain(service, email, NEW_PASSWORD);
    expect(await isVerified(again.accessToken)).toBe(false);
    const actions = await actionsOf(service, user.id);
    expect(actions.filter((action) => action === "account.password_changed")).toHaveLength(1);
    expect(actions.filter((action) => action === "session.ended")).toHaveLength(2);

    // Of others nothing ended, and a verification that was asked for still counts.
    expect(await tryAccess(service, other.accessToken)).toBe(200);
    expect(outcomeOf(await reset(service, othersToken))).toBe("200");
    expect(outcomeOf(await verify(service, verification))).toBe("200");
  });

  it("says in the audit log whence it came", async () => {
    const { email } = await signUpWithPassword(service);
    const token = await mailToken(service, "reset", email);
    const headers = { "user-agent": "reset-test/1" };
    await service.ask("POST", "/api/auth/reset-password", { json: { token, newPassword: NEW_PASSWORD }, headers });
    const { accessToken: key } = await logInAgain(service, email, NEW_PASSWORD);
    const log = await service.ask("GET", "/api/audit-log?action=account.password_changed", { key });
    expect(log.body["events"]).toMatchObject([
      { actor: { type: "system", id: null }, context: { userAgent: "reset-test/1", location: "127.0.0.1" } },
    ]);
  });

  it("is not used up by a password that is refused", async () => {
    const { email } = await signUpWithPassword(service);
    const token = await mailToken(service, "reset", email);
    expect((await reset(service, token, "short")).status).toBe(400);
    expect(outcomeOf(await reset(service, token, "aaaaaaaaaaaaaaaa"))).toBe("400 weak_password");
    expect(outcomeOf(await reset(service, token))).toBe("200");
  });

  it("gives an account without a password its first one", async () => {
    const email = "made@example.test";
    await service.ask("POST", "/api/auth/dev-signup", { json: { email } });
    expect(outcomeOf(await reset(service, await mailToken(service, "reset", email)))).toBe("200");
    await logInAgain(service, email, NEW_PASSWORD);
  });

  it("lifts the waits that wrong passwords brought", async () => {
    await using service = await openTestApp({ environment: { SERVICE_SIGN_IN_FAILURES: "2" } });
    const { email } = await signUpWithPassword(service);
    const token = await mailToken(service, "reset", email);
    const guess = () => service.ask("POST", "/api/auth/login", { json: { email, password: "wrong, and long enough" } });
    const statuses = [];
    for (let at = 0; at < 4; at += 1) statuses.push((await guess()).status);
    expect(statuses).toContain(429);
    await reset(service, token);
    await logInAgain(service, email, NEW_PASSWORD);
  });
});

describe("a verification token", () => {
  it("verifies the address once and says so in the audit log [D3-verify-email] [S3-email-verified] [S4.2-verify-email]", async () => {
    const { email, user, accessToken } = await signUpWithPassword(service);
    await runMailJob(service.deps);
    const token = tokenIn(service.mails.at(-1));
    const later = await mailToken(service, "verify", email);
    expect(await isVerified(accessToken)).toBe(false);
    expect(outcomeOf(await verify(service, token))).toBe("200");
    expect(await isVerified(accessToken)).toBe(true);
    expect(outcomeOf(await verify(service, token))).toBe(REFUSED);
    // The second mail's link is no error for who opens both, and no second change.
    expect(outcomeOf(await verify(service, later))).toBe("200");
    expect(outcomeOf(await verify(service, later))).toBe(REFUSED);
    const actions = await actionsOf(service, user.id);
    expect(actions.filter((action) => action === "account.email_verified")).toHaveLength(1);
    // No session ends: nothing about the password has changed.
    expect(await tryAccess(service, accessToken)).toBe(200);
  });

  it.each(["verify", "reset"] as const)("(%s) proves the address it was mailed to and no other", async (purpose) => {
    const { email, user, accessToken } = await signUpWithPassword(service);
    const token = await mailToken(service, purpose, email);
    const { database } = service.deps;
    const update = database.build.updateTable("accounts").where("id", "=", user.id);
    await database.run(update.set({ email: "moved@example.test" }));
    expect(outcomeOf(await use[purpose](service, token))).toBe(REFUSED);
    expect(await isVerified(accessToken)).toBe(false);
    await logInAgain(service, "moved@example.test");
  });
});

describe.each(["verify", "reset"] as const)("a mailed token (%s)", (purpose) => {
  const life = MAIL_TOKEN_LIFE[purpose];

  it("is refused with one answer when it is unknown, used or of the other purpose [S5.5-tokens]", async () => {
    const { email } = await signUpWithPassword(service);
    const token = await mailToken(service, purpose, email);
    const foreign = await mailToken(service, purpose === "verify" ? "reset" : "verify", email);
    const unknown = mintMailToken(service.deps.random).text;
    const answers = [await use[purpose](service, unknown), await use[purpose](service, foreign)];
    for (const near of [token.slice(0, -1), `${token}=`, `${token} `, token.toUpperCase()]) {
      answers.push(await use[purpose](service, near));
    }
    expect(outcomeOf(await use[purpose](service, token))).toBe("200");
    answers.push(await use[purpose](service, token));
    expect(new Set(answers.map((answer) => `${outcomeOf(answer)} ${answer.text}`)).size).toBe(1);
    expect(outcomeOf(answers[0] ?? (await use[purpose](service, unknown)))).toBe(REFUSED);
  });

  it("lives to the last millisecond and no further, also when the clock is set back after that", async () => {
    const { email } = await signUpWithPassword(service);
    const early = await mailToken(service, purpose, email);
    service.clock.advance(life - 1);
    expect(outcomeOf(await use[purpose](service, early))).toBe("200");
    for (const age of [life, life + 1]) {
      const late = await mailToken(service, purpose, await unverifiedAgain(service, email));
      service.clock.advance(age);
      expect(outcomeOf(await use[purpose](service, late))).toBe(REFUSED);
      service.clock.advance(-age);
      expect(outcomeOf(await use[purpose](service, late))).toBe(REFUSED);
    }
  });

  it("that was used stays used, wherever the clock is set", async () => {
    const { email } = await signUpWithPassword(service);
    const token = await mailToken(service, purpose, email);
    expect(outcomeOf(await use[purpose](service, token))).toBe("200");
    for (const step of [-1, -life, -365 * 24 * HOUR, 2 * 365 * 24 * HOUR]) {
      service.clock.advance(step);
      expect(outcomeOf(await use[purpose](service, token))).toBe(REFUSED);
    }
  });

  it(`serves one of ${CALLERS} callers at the same time`, async () => {
    const { email, user } = await signUpWithPassword(service);
    for (let round = 0; round < ROUNDS[purpose]; round += 1) {
      const token = await mailToken(service, purpose, await unverifiedAgain(service, email));
      const done = { verify: "account.email_verified", reset: "account.password_changed" }[purpose];
      const count = async () => (await actionsOf(service, user.id)).filter((action) => action === done).length;
      const before = await count();
      const uses = Array.from({ length: CALLERS }, (_, at) =>
        purpose === "verify" ? verify(service, token) : reset(service, token, `${NEW_PASSWORD} ${at}`),
      );
      const statuses = (await Promise.all(uses)).map(outcomeOf);
      expect(statuses.filter((outcome) => outcome === "200")).toHaveLength(1);
      expect(statuses.filter((outcome) => outcome === REFUSED)).toHaveLength(CALLERS - 1);
      expect((await count()) - before).toBe(1);
      if (purpose === "reset") await logInAgain(service, email, `${NEW_PASSWORD} ${statuses.indexOf("200")}`);
    }
  });
});

describe("minted tokens", () => {
  it("are 256 bits in base64url, each another", () => {
    const random = { bytes: (length: number) => new Uint8Array(length).fill(0xfb) };
    expect(mintMailToken(random).text).toBe(Buffer.alloc(32, 0xfb).toString("base64url"));
    expect(mintMailToken(random).text).toMatch(/^[\w-]{43}$/);
  });
});

/** A verified address is mailed no verification: the same account, as if it had not been verified yet. */
async function unverifiedAgain({ deps: { database } }: TestApp, email: string): Promise<string> {
  await database.run(database.build.updateTable("accounts").set({ email_verified: 0 }).where("email", "=", email));
  return email;
}
