import { describe, expect, it } from "vitest";
import { openTestApp } from "../../app.test-kit.ts";
import { between } from "../../between.test-kit.ts";
import { logInAgain, signUpWithPassword } from "./accounts.test-kit.ts";
import { resetPassword } from "./reset.ts";
import { hashMailToken, MAIL_TOKEN_LIFE } from "../mail-tokens/rules.ts";
import { useMailToken } from "../mail-tokens/store.ts";
import { mailToken } from "../mail-tokens/mail.test-kit.ts";
import { verifyEmail } from "../mail-tokens/verification.ts";

describe("a mailed token that is over between the look and the use", () => {
  const origin = { requestId: "r", address: "127.0.0.1", userAgent: null };

  it.each(["verify", "reset"] as const)("(%s) is refused by the use: that decides", async (purpose) => {
    await using service = await openTestApp();
    const { email } = await signUpWithPassword(service);
    const token = await mailToken(service, purpose, email);
    service.clock.advance(MAIL_TOKEN_LIFE[purpose] - 1);
    const database = between(service.deps.database, () => service.clock.advance(1));
    const deps = { ...service.deps, database };
    const done =
      purpose === "verify"
        ? verifyEmail(deps, token, origin)
        : resetPassword(deps, { token, newPassword: "kettle orbit marble twelve" }, origin);
    await expect(done).rejects.toMatchObject({ code: "token_invalid" });
    const { user } = await logInAgain(service, email);
    expect(user.emailVerified).toBe(false);
  });

  it("serves no other purpose, also for who does not look first", async () => {
    await using service = await openTestApp();
    const { email } = await signUpWithPassword(service);
    const hash = hashMailToken(await mailToken(service, "verify", email));
    const { database } = service.deps;
    const now = service.clock.now();
    expect(await database.first(useMailToken(database, { hash, purpose: "reset", now }))).toBeNull();
    expect(await database.first(useMailToken(database, { hash, purpose: "verify", now }))).toMatchObject({ email });
  });
});
