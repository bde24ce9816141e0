import { api, type SignedIn } from "@coffer/contract";
import { StepFailed, type Conversation } from "../conversation.ts";
import type { Flow, Subject } from "../subject.ts";

const PASSWORD = "granite otter 71 lanterns";
const OTHER_PASSWORD = "seven brass kettles whistle";
/** What nobody was given: as long as a real one. */
const MADE_UP = "A".repeat(43);

/** Sign-up, sign-in, mailed tokens and sessions. Without an access code: what is refused, and that it is refused alike. */
export const signInFlow: Flow = async (subject) => {
  await refusals(subject);
  await mails(subject);
  if (subject.accessCode === null) {
    subject.owner.note(
      "sign-up and sessions were tried as refusals alone: set SERVICE_ACCESS_CODE for a code of two uses",
    );
    return;
  }
  await life(subject, subject.accessCode);
};

async function refusals({ owner, name }: Subject): Promise<void> {
  const { signup, login, refresh, logout, changePassword, checkAccessCode } = api.auth;
  const open = owner.as(null);
  const email = `${name("nobody")}@example.com`;
  owner.step("an access code that nobody made");
  const checked = (await open.call(checkAccessCode, { body: { code: MADE_UP } })).value();
  owner.check(checkAccessCode, !checked.valid, "it is valid");
  const body = { email, password: PASSWORD, accessCode: MADE_UP };
  await open.call(signup, { body }, { expect: "access_code_invalid" });
  await open.call(login, { body: { email, password: PASSWORD } }, { expect: "wrong_credentials" });
  owner.step("a password below 15 characters");
  await open.call(signup, { body: { ...body, password: "fourteen chars" } }, { expect: "validation_failed" });
  owner.step("a refresh token of nobody");
  await open.call(refresh, { body: { refreshToken: MADE_UP } }, { expect: "session_ended" });
  await open.call(logout, { body: { refreshToken: MADE_UP } });
  owner.step("the wrong current password");
  // Made up anew each time: a word that stands here might be somebody's.
  const wrong = { currentPassword: name("not the password"), newPassword: name("nor the next one") };
  await owner.call(changePassword, { body: wrong }, { expect: "wrong_password" });
  owner.step("the sessions of the account");
  await owner.call(api.sessions.list, {});
}

async function mails({ owner, name }: Subject): Promise<void> {
  const { forgotPassword, resendVerification, resetPassword, verifyEmail } = api.auth;
  const open = owner.as(null);
  owner.step("a mail for nobody");
  for (const e of [forgotPassword, resendVerification])
    await open.call(e, { body: { email: `${name("nobody")}@example.com` } });
  owner.step("a mailed token of nobody");
  const reset = { body: { token: MADE_UP, newPassword: OTHER_PASSWORD } };
  await open.call(resetPassword, reset, { expect: "token_invalid" });
  await open.call(verifyEmail, { body: { token: MADE_UP } }, { expect: "token_invalid" });
}

async function life({ owner, name }: Subject, accessCode: string): Promise<void> {
  const open = owner.as(null);
  const email = `${name("somebody")}@example.com`;
  owner.step("sign-up with an access code, and the same e-mail again");
  const body = { email, password: PASSWORD, accessCode };
  const up = (await open.call(api.auth.signup, { body })).value();
  checkTokens(owner, up);
  owner.check(api.auth.signup, up.user.email === email && !up.user.emailVerified, "another user");
  await open.call(api.auth.signup, { body }, { expect: "email_exists" });
  owner.step("a password that is too easy to guess");
  const easy = { email: `${name("easy")}@example.com`, password: "passwordpassword", accessCode };
  await open.call(api.auth.signup, { body: easy }, { expect: "weak_password" });

  owner.step("sign-in, and the account by its access token");
  await open.call(api.auth.login, { body: { email, password: OTHER_PASSWORD } }, { expect: "wrong_credentials" });
  const signedIn = (await open.call(api.auth.login, { body: { email, password: PASSWORD } })).value();
  const user = owner.as(signedIn.accessToken);
  const { credential } = (await user.call(api.account.get, {})).value();
  owner.check(api.account.get, credential.kind === "session", "the credential's kind is not session");
  await sessions(user, up);
  await tokens(owner, email);
}

function checkTokens(owner: Conversation, { accessToken, refreshToken, expiresIn }: SignedIn): void {
  owner.check(api.auth.signup, expiresIn === 900, "expiresIn is not 900");
  owner.check(api.auth.signup, accessToken.split(".").length === 3, "the access token is no JWT");
  owner.check(api.auth.signup, refreshToken.length >= 43, "the refresh token is short");
}

/** `user` looks at its own session and ends the one of the sign-up. */
async function sessions(user: Conversation, other: SignedIn): Promise<void> {
  const { list, end } = api.sessions;
  user.step("sessions are listed, and ended at once");
  const live = (await user.call(list, {})).value().sessions;
  user.check(list, live.filter(({ current }) => current).length === 1, "not exactly one session is current");
  const ended = live.find(({ current }) => !current);
  if (ended === undefined) throw new StepFailed("the session of the sign-up is not listed");
  await user.call(end, { params: { sessionId: ended.id } });
  await user.as(other.accessToken).call(api.account.get, {}, { expect: "invalid_credential" });
  await user.call(end, { params: { sessionId: ended.id } });
  await user
    .as(null)
    .call(api.auth.refresh, { body: { refreshToken: other.refreshToken } }, { expect: "session_ended" });
}

async function tokens(owner: Conversation, email: string): Promise<void> {
  const { login, refresh, logout, changePassword } = api.auth;
  const open = owner.as(null);
  const enter = async (password: string) => (await open.call(login, { body: { email, password } })).value();
  owner.step("a refresh rotates; the old token again ends the family");
  const first = await enter(PASSWORD);
  const second = (await open.call(refresh, { body: { refreshToken: first.refreshToken } })).value();
  owner.check(refresh, second.refreshToken !== first.refreshToken, "the refresh token is the old one");
  await owner.as(second.accessToken).call(api.account.get, {});
  for (const { refreshToken } of [first, second])
    await open.call(refresh, { body: { refreshToken } }, { expect: "session_ended" });
  await owner.as(second.accessToken).call(api.account.get, {}, { expect: "invalid_credential" });

  owner.step("a new password ends every other session, log-out this one");
  const [mine, theirs] = [await enter(PASSWORD), await enter(PASSWORD)];
  const body = { currentPassword: PASSWORD, newPassword: OTHER_PASSWORD };
  await owner.as(mine.accessToken).call(changePassword, { body });
  await owner.as(theirs.accessToken).call(api.account.get, {}, { expect: "invalid_credential" });
  await owner.as(mine.accessToken).call(api.account.get, {});
  await open.call(logout, { body: { refreshToken: mine.refreshToken } });
  await owner.as(mine.accessToken).call(api.account.get, {}, { expect: "invalid_credential" });
  await enter(OTHER_PASSWORD);
}
