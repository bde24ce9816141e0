import type { api, SignedIn } from "@coffer/contract";
import { Failure, type GroupHandlers } from "../handlers.ts";
import { findByEmail, openAccount, readAccount } from "./accounts.ts";
import { record } from "./audit.ts";
import { endSessions, issueTokens, openSession, randomToken, type Mail } from "./identity-state.ts";
import { notFound, pageOf, type Caller, type State, type Visitor } from "./state.ts";

const HOUR_MS = 3_600_000;
const LIFE_MS = { reset: HOUR_MS, verify: 24 * HOUR_MS } as const;
const SAID = { message: "If there is such an account, a mail is on its way." };

type AuthHandlers = GroupHandlers<typeof api.auth, never>;

/** Handlers of both kinds: those of open endpoints get a visitor, `changePassword` a caller. */
export function authHandlers(state: State) {
  return { ...signInHandlers(state), ...mailHandlers(state), ...passwordHandlers(state) } satisfies AuthHandlers;
}

function signInHandlers(state: State) {
  const signIn = (visitor: Visitor, accountId: string): SignedIn => {
    const { sessionId, ...tokens } = openSession(state, accountId, "password", visitor.userAgent);
    record(state, visitor, accountId, "session.created", { type: "session", id: sessionId });
    return { ...tokens, user: readAccount(state, accountId) };
  };
  return {
    signup: ({ body }, visitor) => {
      const { accessCode = null } = body;
      requireAccessCode(state, accessCode);
      requireStrong(body.password, body.email);
      const { email, name = null } = body;
      const { id } = openAccount(state, visitor, { email, name, emailVerified: false, plan: "free" });
      useAccessCode(state, accessCode);
      state.passwords.set(id, body.password.normalize("NFKC"));
      sendMail(state, "verify", email);
      return signIn(visitor, id);
    },
    login: ({ body }, visitor) => {
      const account = findByEmail(state, body.email);
      if (account === null || state.passwords.get(account.id) !== body.password.normalize("NFKC"))
        throw new Failure("wrong_credentials");
      return signIn(visitor, account.id);
    },
    refresh: ({ body }, visitor) => {
      const token = state.refreshTokens.get(body.refreshToken);
      const session = token === undefined ? undefined : state.sessions.get(token.sessionId);
      if (token === undefined || session === undefined) throw new Failure("session_ended");
      if (token.rotated && session.endedAt === null) {
        // Somebody else has used it. Nobody can see which of the two is the thief, so the session ends for both.
        session.endedAt = state.now();
        const target = { type: "session", id: session.value.id };
        record(state, visitor, session.accountId, "session.reuse_detected", target);
      }
      if (session.endedAt !== null || token.expiresAt <= state.now()) throw new Failure("session_ended");
      token.rotated = true;
      return issueTokens(state, token.sessionId);
    },
    logout: ({ body }, visitor) => {
      const session = state.sessions.get(state.refreshTokens.get(body.refreshToken)?.sessionId ?? "");
      if (session?.endedAt !== null) return;
      session.endedAt = state.now();
      record(state, visitor, session.accountId, "session.ended", { type: "session", id: session.value.id });
    },
    checkAccessCode: ({ body }) => ({ valid: (state.accessCodes.get(body.code) ?? 0) > 0 }),
  } satisfies Partial<GroupHandlers<typeof api.auth, Visitor>>;
}

function mailHandlers(state: State) {
  const take = (token: string, purpose: Mail["purpose"]): string => {
    const found = state.mailTokens.get(token);
    if (found?.purpose !== purpose || found.expiresAt <= state.now()) throw new Failure("token_invalid");
    state.mailTokens.delete(token);
    return found.accountId;
  };
  return {
    forgotPassword: ({ body }) => {
      sendMail(state, "reset", body.email.toLowerCase());
      return SAID;
    },
    resetPassword: ({ body }, visitor) => {
      const account = state.accounts.get(state.mailTokens.get(body.token)?.accountId ?? "");
      requireStrong(body.newPassword, account?.email ?? "");
      const id = take(body.token, "reset");
      state.passwords.set(id, body.newPassword.normalize("NFKC"));
      record(state, visitor, id, "account.password_changed", { type: "account", id });
      endAllSessions(state, visitor, id, null);
      return { message: "The password is changed. Sign in with it." };
    },
    verifyEmail: ({ body }, visitor) => {
      const id = take(body.token, "verify");
      state.accounts.set(id, { ...readAccount(state, id), emailVerified: true });
      record(state, visitor, id, "account.email_verified", { type: "account", id });
      return { message: "The e-mail address is confirmed." };
    },
    resendVerification: ({ body }) => {
      if (findByEmail(state, body.email)?.emailVerified === false) sendMail(state, "verify", body.email);
      return SAID;
    },
  } satisfies Partial<GroupHandlers<typeof api.auth, Visitor>>;
}

function passwordHandlers(state: State) {
  return {
    changePassword: ({ body }, caller) => {
      const { accountId, sessionId } = caller;
      if (state.passwords.get(accountId) !== body.currentPassword.normalize("NFKC"))
        throw new Failure("wrong_password");
      requireStrong(body.newPassword, readAccount(state, accountId).email);
      state.passwords.set(accountId, body.newPassword.normalize("NFKC"));
      record(state, caller, accountId, "account.password_changed", { type: "account", id: accountId });
      endAllSessions(state, caller, accountId, sessionId);
    },
  } satisfies Partial<GroupHandlers<typeof api.auth, Caller>>;
}

function endAllSessions(state: State, by: Visitor | Caller, accountId: string, exceptId: string | null): void {
  for (const id of endSessions(state, accountId, exceptId))
    record(state, by, accountId, "session.ended", { type: "session", id });
}

export function sessionHandlers(state: State): GroupHandlers<typeof api.sessions, Caller> {
  return {
    list: ({ query }, { accountId, sessionId }) => {
      const now = new Date(state.now()).toISOString();
      const rows = [...state.sessions.values()].filter(
        (row) => row.accountId === accountId && row.endedAt === null && row.value.expiresAt > now,
      );
      const { items, nextCursor } = pageOf(rows, query);
      return { sessions: items.map((value) => ({ ...value, current: value.id === sessionId })), nextCursor };
    },
    end: ({ params }, caller) => {
      const row = state.sessions.get(params.sessionId);
      if (row?.accountId !== caller.accountId) throw notFound("Session");
      if (row.endedAt !== null) return;
      row.endedAt = state.now();
      record(state, caller, row.accountId, "session.ended", { type: "session", id: row.value.id });
    },
  };
}

/** Throws `access_code_invalid`; does not use it up. */
export function requireAccessCode(state: State, code: string | null): void {
  if (code === null || (state.accessCodes.get(code) ?? 0) < 1) throw new Failure("access_code_invalid");
}

export function useAccessCode(state: State, code: string | null): void {
  if (code !== null) state.accessCodes.set(code, (state.accessCodes.get(code) ?? 0) - 1);
}

/** A new token makes the earlier ones of its kind void. No mail goes to an address without an account. */
function sendMail(state: State, purpose: Mail["purpose"], to: string): void {
  const account = findByEmail(state, to);
  if (account === null) return;
  for (const [token, row] of state.mailTokens)
    if (row.accountId === account.id && row.purpose === purpose) state.mailTokens.delete(token);
  const token = randomToken();
  state.mailTokens.set(token, { purpose, accountId: account.id, expiresAt: state.now() + LIFE_MS[purpose] });
  state.mails.push({ to, purpose, token });
}

/** The plainest of bad passwords: few different characters, a common word repeated, or the address itself. */
function requireStrong(password: string, email: string): void {
  const text = password.normalize("NFKC").toLowerCase();
  const [local = ""] = email.split("@");
  const rest = text.replaceAll(/password|qwerty(uiop)?|letmein|1234567890?|coffer/g, "");
  const own = local.length > 3 ? rest.replaceAll(local, "") : rest;
  if (new Set(own).size < 5) throw new Failure("weak_password");
}
