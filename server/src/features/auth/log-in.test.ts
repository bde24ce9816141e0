import type { AuditEvent } from "@coffer/contract";
import { describe, expect, it, vi } from "vitest";
import { openTestApp, type TestApp } from "../../app.test-kit.ts";
import { addSession } from "../sessions/sessions.test-kit.ts";
import { logIn } from "./log-in.ts";
import { verifyPassword } from "./passwords.ts";
import {
  ageSignIns,
  actionsOf,
  countRows,
  logInAgain,
  outcomeOf,
  PASSWORD,
  refresh,
  signUpWithPassword,
  tryAccess,
} from "./accounts.test-kit.ts";
import { ofEachTest } from "../../each.test-kit.ts";

const service = ofEachTest(openTestApp);

vi.mock("./passwords.ts", { spy: true });

const ORIGIN = { requestId: "r", address: "127.0.0.1", userAgent: null };
const OTHER_PASSWORD = "lantern orbit cinnamon seven";

const logInWith = (service: TestApp, email: string, password: string) =>
  service.ask("POST", "/api/auth/login", { json: { email, password } });

const changePassword = (service: TestApp, key: string, currentPassword: string, newPassword: string) =>
  service.ask("POST", "/api/auth/change-password", { key, json: { currentPassword, newPassword } });

describe("a sign-in", () => {
  it("opens a session of its own and records it [D3-login S5.5-sign-in]", async () => {
    const account = await signUpWithPassword(service);
    const again = await logInAgain(service, account.email.toUpperCase());
    expect(again).toMatchObject({ user: { id: account.user.id, accessLevel: "owner" }, expiresIn: 900 });
    expect(await countRows(service, "sessions")).toBe(2);
    expect((await actionsOf(service, account.user.id)).slice(-1)).toEqual(["session.created"]);
    expect(await tryAccess(service, again.accessToken)).toBe(200);
  });

  it("is refused in the same way for a wrong password, an unknown address, and an account without a password", async () => {
    const { email } = await signUpWithPassword(service);
    await service.ask("POST", "/api/auth/dev-signup", { json: { email: "dev@example.test" } });
    const answers = [
      await logInWith(service, email, OTHER_PASSWORD),
      await logInWith(service, email, `${PASSWORD} `),
      await logInWith(service, "nobody@example.test", PASSWORD),
      await logInWith(service, "dev@example.test", PASSWORD),
      await logInWith(service, email, "x".repeat(1000)),
    ];
    for (const answer of answers) {
      expect(outcomeOf(answer)).toBe("401 wrong_credentials");
      expect(answer.text).toBe(answers[0]?.text);
      expect(Object.keys(answer.headers)).toEqual(Object.keys(answers[0]?.headers ?? {}));
    }
    expect(await countRows(service, "sessions")).toBe(1);
  });

  it("waits after failures for one address, known or not, and for no other [D2-login]", async () => {
    await using service = await openTestApp({ environment: { SERVICE_SIGN_IN_FAILURES: "5" } });
    const { email } = await signUpWithPassword(service);
    const bystander = await signUpWithPassword(service);
    for (const address of [email, "nobody@example.test"]) {
      for (let failure = 0; failure < 5; failure += 1) await logInWith(service, address, OTHER_PASSWORD);
      const refused = await logInWith(service, address, PASSWORD);
      expect(outcomeOf(refused)).toBe("429 rate_limited");
      expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    }
    expect(outcomeOf(await logInWith(service, bystander.email, PASSWORD))).toBe("200");
    await ageSignIns(service.deps.database, 60_000);
    expect(outcomeOf(await logInWith(service, email, PASSWORD))).toBe("200");
  });

  it("with a password that is changed while it is compared opens nothing", async () => {
    const { email, user } = await signUpWithPassword(service);
    const { database } = service.deps;
    const change = database.build.updateTable("accounts").set({ password_hash: "another" }).where("id", "=", user.id);
    vi.mocked(verifyPassword).mockImplementationOnce(async () => {
      await database.run(change);
      return true;
    });
    await expect(logIn(service.deps, { email, password: PASSWORD }, ORIGIN)).rejects.toMatchObject({
      code: "wrong_credentials",
    });
    expect(await countRows(service, "sessions")).toBe(1);
  });
});

describe("a sign-in that fails", () => {
  it.each(["nobody@example.com", "provider@example.com"])(
    "does the work of a comparison where there is no password to compare with: %s [S5.5-sign-in]",
    async (email) => {
      const { user } = await signUpWithPassword(service);
      const { database } = service.deps;
      const passwordless = { password_hash: null, email: "provider@example.com" };
      await database.run(database.build.updateTable("accounts").set(passwordless).where("id", "=", user.id));
      vi.mocked(verifyPassword).mockClear();
      expect(outcomeOf(await logInWith(service, email, PASSWORD))).toBe("401 wrong_credentials");
      expect(vi.mocked(verifyPassword).mock.calls).toEqual([[PASSWORD, null]]);
    },
  );

  it("begins its wait when the password was found wrong [D2-login]", async () => {
    await using service = await openTestApp({ environment: { SERVICE_SIGN_IN_FAILURES: "1" } });
    const { email } = await signUpWithPassword(service);
    const attempt = () => logIn(service.deps, { email, password: OTHER_PASSWORD }, ORIGIN);
    vi.mocked(verifyPassword).mockImplementationOnce(async () => {
      // Longer than the first wait.
      await ageSignIns(service.deps.database, 5_000);
      return false;
    });
    await expect(attempt()).rejects.toMatchObject({ code: "wrong_credentials" });
    await expect(attempt()).rejects.toMatchObject({ code: "rate_limited" });
    await ageSignIns(service.deps.database, 1_000);
    await expect(attempt()).rejects.toMatchObject({ code: "wrong_credentials" });
  });
});

describe("a changed password", () => {
  it("ends every other session at once, and not the caller's [D3-change-password]", async () => {
    const mine = await signUpWithPassword(service);
    const other = await addSession(service.deps, mine.user.id);
    const stranger = await signUpWithPassword(service);
    expect((await changePassword(service, mine.accessToken, PASSWORD, OTHER_PASSWORD)).status).toBe(204);
    expect(await tryAccess(service, mine.accessToken)).toBe(200);
    expect(outcomeOf(await refresh(service, mine.refreshToken))).toBe("200");
    expect(await tryAccess(service, other.accessToken)).toBe(401);
    expect(outcomeOf(await refresh(service, other.refreshToken))).toBe("401 session_ended");
    expect(await tryAccess(service, stranger.accessToken)).toBe(200);
    expect(outcomeOf(await logInWith(service, mine.email, PASSWORD))).toBe("401 wrong_credentials");
    expect(outcomeOf(await logInWith(service, mine.email, OTHER_PASSWORD))).toBe("200");
    const actions = await actionsOf(service, mine.user.id);
    expect(actions.slice(-3)).toEqual(["account.password_changed", "session.ended", "session.created"]);
    const log = await service.ask("GET", "/api/audit-log?action=session.ended", { key: mine.accessToken });
    const [entry] = log.body["events"] as AuditEvent[];
    expect(entry).toMatchObject({ actor: { type: "session" }, targets: [{ type: "session", id: other.sessionId }] });
  });

  it("records no more endings than one transaction can bear", async () => {
    const { user, accessToken } = await signUpWithPassword(service);
    for (let made = 0; made < 103; made += 1) await addSession(service.deps, user.id);
    expect((await changePassword(service, accessToken, PASSWORD, OTHER_PASSWORD)).status).toBe(204);
    const ended = (await actionsOf(service, user.id)).filter((action) => action === "session.ended");
    expect(ended).toHaveLength(100);
    const { body } = await service.ask("GET", "/api/auth/sessions", { key: accessToken });
    expect(body["sessions"]).toHaveLength(1);
  });

  it("ends sessions that are over by time too: a clock that is set back brings none back", async () => {
    const { email, accessToken } = await signUpWithPassword(service);
    service.clock.advance(40 * 86_400_000);
    const now = await logInAgain(service, email);
    expect((await changePassword(service, now.accessToken, PASSWORD, OTHER_PASSWORD)).status).toBe(204);
    service.clock.advance(-40 * 86_400_000);
    expect(await tryAccess(service, accessToken)).toBe(401);
  });

  it("by an API key ends all of them; keys stay", async () => {
    const account = await signUpWithPassword(service);
    const { key } = await service.newKey(account.accessToken);
    expect((await changePassword(service, key, PASSWORD, OTHER_PASSWORD)).status).toBe(204);
    expect(await tryAccess(service, account.accessToken)).toBe(401);
    expect(await tryAccess(service, key)).toBe(200);
  });

  it("needs the current one, and a good new one; a refused change changes nothing", async () => {
    const { email, accessToken } = await signUpWithPassword(service);
    const other = await logInAgain(service, email);
    expect(outcomeOf(await changePassword(service, accessToken, OTHER_PASSWORD, OTHER_PASSWORD))).toBe(
      "403 wrong_password",
    );
    expect(outcomeOf(await changePassword(service, accessToken, PASSWORD, "passwordpassword"))).toBe(
      "400 weak_password",
    );
    expect(await tryAccess(service, other.accessToken)).toBe(200);
    expect(outcomeOf(await logInWith(service, email, PASSWORD))).toBe("200");
  });

  it("wins alone when two change it at once", async () => {
    const { email, accessToken } = await signUpWithPassword(service);
    const wanted = [OTHER_PASSWORD, "copper meadow fiddle nineteen"];
    const answers = await Promise.all(wanted.map((next) => changePassword(service, accessToken, PASSWORD, next)));
    expect(answers.map(outcomeOf).sort()).toEqual(["204", "403 wrong_password"]);
    const won = wanted[answers.findIndex(({ status }) => status === 204)] ?? "";
    expect(outcomeOf(await logInWith(service, email, won))).toBe("200");
  });

  it("ends the reset links that are on their way", async () => {
    const { user, accessToken } = await signUpWithPassword(service);
    const { database } = service.deps;
    await database.run(
      database.build.insertInto("mail_tokens").values({
        hash: "h",
        account_id: user.id,
        purpose: "reset",
        email: user.email,
        used_at: null,
        expires_at: service.clock.now() + 3_600_000,
      }),
    );
    expect((await changePassword(service, accessToken, PASSWORD, OTHER_PASSWORD)).status).toBe(204);
    expect(await database.first(database.build.selectFrom("mail_tokens").select("used_at"))).not.toEqual({
      used_at: null,
    });
  });

  it("can not be tried out endlessly with a stolen session", async () => {
    await using service = await openTestApp({ environment: { SERVICE_SIGN_IN_FAILURES: "5" } });
    const { accessToken } = await signUpWithPassword(service);
    for (let failure = 0; failure < 5; failure += 1) {
      await changePassword(service, accessToken, OTHER_PASSWORD, OTHER_PASSWORD);
    }
    expect(outcomeOf(await changePassword(service, accessToken, PASSWORD, OTHER_PASSWORD))).toBe("429 rate_limited");
  });
});
