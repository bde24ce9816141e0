import { developmentCredentials, Secret, sessionCredentials } from "@coffer/sdk";
import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { recorder, type Accounts, type Payment } from "./client-subject.ts";

const PASSWORD = "seven unrelated words of mine";
const OTHER_PASSWORD = "quite another set of words";

/** Sign-up, sign-in, sessions, mailed tokens, plans. */
export function peopleSuite(accounts: () => Accounts): void {
  const newEmail = (): string => `${randomUUID()}@example.com`;
  const visitor = () => accounts().connect(null);
  const signUp = async (email: string) =>
    visitor().auth.signup({ email, password: PASSWORD, accessCode: await accounts().backstage.accessCode() });

  it("gives an account another name", async () => {
    const { client } = await accounts().signup();
    expect((await client.account.update({ name: "Ada" })).name).toBe("Ada");
  });

  it("signs up with a code that works once, confirms the address, and signs in [D3-signup] [D3-verify-email]", async () => {
    const { auth } = visitor();
    const email = newEmail();
    const accessCode = await accounts().backstage.accessCode();
    expect(await auth.checkAccessCode(accessCode)).toBe(true);
    const { user, expiresIn } = await auth.signup({ email, password: PASSWORD, accessCode });
    expect([user.email, user.emailVerified, user.plan, expiresIn]).toEqual([email, false, "free", 900]);
    expect(await auth.checkAccessCode(accessCode)).toBe(false);
    const again = auth.signup({ email: newEmail(), password: PASSWORD, accessCode });
    await expect(again).rejects.toMatchObject({ code: "access_code_invalid", status: 403 });
    const token = await accounts().backstage.mailedToken(email, "verify");
    await auth.verifyEmail(token);
    await expect(auth.verifyEmail(token)).rejects.toMatchObject({ code: "token_invalid" });
    expect((await auth.login({ email, password: PASSWORD })).user.emailVerified).toBe(true);
    const wrong = auth.login({ email, password: OTHER_PASSWORD });
    await expect(wrong).rejects.toMatchObject({ code: "wrong_credentials", nextStep: expect.any(String) as string });
  });

  it("sends nothing that needs a credential without one, and takes the development rule from who says so [D7-order]", async () => {
    const { middleware, sent } = recorder();
    for (const credentials of [null, undefined, () => null]) {
      const nobody = accounts().connect(null, { credentials, middleware: [middleware] });
      for (const refused of [
        nobody.account.get(),
        nobody.files.list(),
        nobody.vaults.create({ name: "a", type: "public" }),
      ])
        await expect(refused).rejects.toMatchObject({ code: "credential_missing", retryable: false });
    }
    expect(sent).toEqual([]);
    const { client } = await accounts().signup();
    const { account } = await client.account.get();
    const acting = (userId: string) =>
      accounts()
        .connect(null, { credentials: developmentCredentials({ userId }) })
        .account.get();
    const mine = await acting(account.id);
    expect(mine.account).toEqual(account);
    const free = { budgets: null, budgetUse: null };
    const unlimited = { ...free, scopes: null, vaultIds: null, chainAddress: null, expiresAt: null };
    expect(mine.credential).toEqual({ kind: "development", id: null, name: null, ...unlimited });
    await expect(acting(randomUUID())).rejects.toMatchObject({ code: "invalid_credential", status: 401 });
    const first = accounts().connect(null, { credentials: developmentCredentials() });
    expect((await first.account.get()).credential.kind).toBe("development");
    const unset = { userId: undefined } as unknown as { userId: string };
    expect(() => developmentCredentials(unset)).toThrow(expect.objectContaining({ code: "configuration" }));
  });

  it("sets a new password with a mailed token, which ends every session [D3-reset-password]", async () => {
    const { auth } = visitor();
    const email = newEmail();
    const { refreshToken } = await signUp(email);
    const said = await auth.forgotPassword(email);
    expect(await auth.forgotPassword(newEmail())).toEqual(said);
    const token = await accounts().backstage.mailedToken(email, "reset");
    await auth.resetPassword({ token, newPassword: OTHER_PASSWORD });
    await expect(auth.refresh(refreshToken)).rejects.toMatchObject({ code: "session_ended" });
    await expect(auth.login({ email, password: PASSWORD })).rejects.toMatchObject({ code: "wrong_credentials" });
    await auth.login({ email, password: OTHER_PASSWORD });
  });

  it("lists sessions, ends one, and loses the others with a new password [D3-sessions] [D3-change-password]", async () => {
    const { auth } = visitor();
    const email = newEmail();
    const connect = (token: string) => accounts().connect(token);
    const [first, second] = [await signUp(email), await auth.login({ email, password: PASSWORD })];
    const mine = connect(second.accessToken);
    const { sessions } = await mine.sessions.list();
    expect(sessions.map(({ current }) => current)).toEqual([true, false]);
    await mine.sessions.end(sessions[1]?.id ?? "");
    await expect(connect(first.accessToken).account.get()).rejects.toMatchObject({ code: "invalid_credential" });
    const third = await auth.login({ email, password: PASSWORD });
    await mine.auth.changePassword({ currentPassword: PASSWORD, newPassword: OTHER_PASSWORD });
    await expect(connect(third.accessToken).account.get()).rejects.toMatchObject({ status: 401 });
    expect((await mine.account.get()).credential.kind).toBe("session");
  });

  it("renews a session once for all calls, and ends it when its token was used elsewhere [D3-refresh]", async () => {
    const signedIn = await signUp(newEmail());
    const { middleware, sent } = recorder();
    const session = sessionCredentials({ ...signedIn, accessToken: null, expiresIn: 0 });
    const mine = accounts().connect(null, { credentials: session, middleware: [middleware] });
    const answers = await Promise.all(Array.from({ length: 20 }, () => mine.account.get()));
    expect(new Set(answers.map(({ account }) => account.id))).toEqual(new Set([signedIn.user.id]));
    expect(sent.filter((request) => request === "POST /api/auth/refresh")).toHaveLength(1);
    // Somebody has a copy of the first refresh token.
    await expect(visitor().auth.refresh(new Secret(signedIn.refreshToken))).rejects.toMatchObject({ status: 401 });
    await expect(mine.account.get()).rejects.toMatchObject({ code: "session_ended", reason: "refused" });
  });

  it("signs out for good [D3-logout]", async () => {
    const signedIn = await signUp(newEmail());
    const mine = accounts().connect(null, { credentials: sessionCredentials(signedIn) });
    await mine.account.get();
    await mine.auth.logout();
    await expect(mine.account.get()).rejects.toMatchObject({ code: "session_ended", reason: "signed_out" });
    const copy = accounts().connect(signedIn.accessToken).account.get();
    await expect(copy).rejects.toMatchObject({ code: "invalid_credential" });
  });

  it("pays after the address is confirmed; what is paid for stays until the provider ends it [D0-billing]", async () => {
    const { backstage } = accounts();
    const email = newEmail();
    const { user, accessToken } = await signUp(email);
    const mine = accounts().connect(accessToken);
    await expect(mine.billing.checkout({ plan: "pro" })).rejects.toMatchObject({ code: "email_unverified" });
    await visitor().auth.verifyEmail(await backstage.mailedToken(email, "verify"));
    expect((await mine.billing.checkout({ plan: "pro" })).url).toMatch(/^https?:/);
    await expect(mine.billing.changePlan({ plan: "pro" })).rejects.toMatchObject({ code: "subscription_required" });
    expect(await mine.billing.changePlan({ plan: "free" })).toEqual({ plan: "free", subscription: null });
    const now = Date.now();
    const told = (kind: "active" | "ended", at: number, reference = "sub_1"): Payment => ({
      kind: `subscription.${kind}`,
      accountId: user.id,
      plan: "pro",
      reference,
      occurredAt: new Date(at).toISOString(),
    });
    expect((await backstage.pay(told("active", now), "forged")).status).toBe(400);
    expect((await mine.billing.get()).subscription).toBeNull();
    expect((await backstage.pay(told("active", now))).status).toBe(204);
    const ending = { plan: "pro", subscription: { plan: "pro", status: "ending" } };
    expect(await mine.billing.changePlan({ plan: "free" })).toMatchObject(ending);
    expect(await mine.billing.changePlan({ plan: "pro" })).toMatchObject({ subscription: { status: "active" } });
    expect(await mine.billing.changePlan({ plan: "free" })).toMatchObject(ending);
    await backstage.pay(told("ended", now + 1000));
    const ended = { plan: "free", subscription: { status: "ended", since: new Date(now).toISOString() } };
    expect(await mine.billing.get()).toMatchObject(ended);
    await backstage.pay(told("active", now + 500));
    expect(await mine.billing.get()).toMatchObject(ended);
    const { events } = await mine.audit.list({ action: "account" });
    expect(events.slice(0, 4).map(({ action, targets }) => [action, targets[0]?.type, targets[0]?.id])).toEqual([
      ["account.plan_changed", "plan", "free"],
      ["account.plan_change_requested", "plan", "free"],
      ["account.plan_change_requested", "plan", "pro"],
      ["account.plan_change_requested", "plan", "free"],
    ]);
    await expect(mine.billing.checkout({ plan: "free" })).rejects.toMatchObject({ code: "plan_unchanged" });
    await backstage.pay(told("active", now + 1000, "sub_2"));
    await expect(mine.billing.checkout({ plan: "free" })).rejects.toMatchObject({ code: "validation_failed" });
    await backstage.pay(told("ended", now + 2000));
    expect(await mine.billing.get()).toMatchObject({ plan: "pro", subscription: { status: "active" } });
  });
}
