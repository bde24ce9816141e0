/** What the fake service holds of people: sessions, codes, mails, sign-ins, invites, payment. */
import {
  ACCESS_TOKEN_SECONDS,
  REFRESH_TOKEN_DAYS,
  SESSION_DAYS,
  type ApiKey,
  type AuditEvent,
  type Billing,
  type EventObject,
  type Invite,
  type Session,
  type SessionTokens,
} from "@coffer/contract";
import type { Budget, Row, Ticking } from "./row.ts";

const DAY_MS = 86_400_000;

export interface SessionRow extends Row<Omit<Session, "current">> {
  endedAt: number | null;
}

export interface InviteRow extends Row<Invite> {
  readonly code: string;
  /** When the key of a redeemed invite ends: never later than its maker's own. */
  readonly keyExpiresAt: string | null;
  readonly budgets: readonly Budget[];
}

/** What pays for an account's plan, from the newest event; times in milliseconds since the Unix epoch. */
export interface SubscriptionRow {
  readonly plan: Billing["plan"];
  readonly status: "active" | "ending" | "ended";
  readonly reference: string;
  readonly eventAt: number;
  readonly since: number;
}

/** A mail that was sent; its token is the one that the link in it would carry. */
export interface Mail {
  readonly to: string;
  readonly purpose: "verify" | "reset";
  readonly token: string;
}

/** The user who is signed in at the identity provider. */
export interface ProviderUser {
  readonly subject: string;
  readonly email: string;
  readonly emailVerified?: boolean;
}

export interface SignIn {
  readonly flow: "plain" | "zklogin";
  readonly nonce: string | null;
  readonly accessCode: string | null;
  readonly expiresAt: number;
}

/** A change of an account, before it is in the chain of hashes. */
export type Change = Omit<AuditEvent, "previousHash" | "hash"> & { readonly object: EventObject | null };

export interface IdentityState {
  readonly passwords: Map<string, string>;
  readonly sessions: Map<string, SessionRow>;
  readonly accessTokens: Map<string, { readonly sessionId: string; readonly expiresAt: number }>;
  readonly refreshTokens: Map<string, { readonly sessionId: string; readonly expiresAt: number; rotated: boolean }>;
  /** Uses that are left. */
  readonly accessCodes: Map<string, number>;
  readonly mailTokens: Map<
    string,
    { readonly purpose: Mail["purpose"]; readonly accountId: string; expiresAt: number }
  >;
  readonly mails: Mail[];
  /** Accounts by subject at the identity provider. */
  readonly identities: Map<string, string>;
  readonly salts: Map<string, string>;
  readonly signIns: Map<string, SignIn>;
  readonly providerCodes: Map<string, { readonly state: string; readonly user: ProviderUser }>;
  readonly idTokens: Map<string, { readonly user: ProviderUser; readonly signIn: SignIn; used: boolean }>;
  readonly challenges: Map<
    string,
    { readonly accountId: string; readonly credential: string; readonly expiresAt: number }
  >;
  readonly invites: Map<string, InviteRow>;
  readonly subscriptions: Map<string, SubscriptionRow>;
  readonly paymentEvents: Set<string>;
  readonly changes: Map<string, Change[]>;
}

export function createIdentityState(): IdentityState {
  const tokens = { accessTokens: new Map(), refreshTokens: new Map(), mailTokens: new Map(), idTokens: new Map() };
  const people = { passwords: new Map(), sessions: new Map(), identities: new Map(), salts: new Map() };
  const codes = { accessCodes: new Map(), providerCodes: new Map(), signIns: new Map(), challenges: new Map() };
  const more = { invites: new Map(), subscriptions: new Map(), paymentEvents: new Set<string>(), changes: new Map() };
  return { ...tokens, ...people, ...codes, ...more, mails: [] };
}

type People = IdentityState & Ticking;

/** Opens a session of an account. */
export function openSession(
  state: People,
  accountId: string,
  method: "password" | "idp" | "zklogin",
  userAgent: string | null,
): SessionTokens & { readonly sessionId: string } {
  const id = crypto.randomUUID();
  const at = new Date(state.now()).toISOString();
  const value = {
    id,
    method,
    userAgent: userAgent?.slice(0, 200) ?? null,
    createdAt: at,
    lastUsedAt: at,
    expiresAt: at,
  };
  state.sessions.set(id, { accountId, sequence: state.next(), value, endedAt: null });
  return { ...issueTokens(state, id), sessionId: id };
}

/** A new pair of tokens of a session. */
export function issueTokens(state: People, sessionId: string): SessionTokens {
  const row = state.sessions.get(sessionId);
  if (row === undefined) throw new Error("tokens for a session that is not there");
  const now = state.now();
  const endsAt = Date.parse(row.value.createdAt) + SESSION_DAYS * DAY_MS;
  const expiresAt = Math.min(now + REFRESH_TOKEN_DAYS * DAY_MS, endsAt);
  const expiresIn = Math.min(ACCESS_TOKEN_SECONDS, secondsBetween(now, expiresAt));
  row.value = { ...row.value, lastUsedAt: new Date(now).toISOString(), expiresAt: new Date(expiresAt).toISOString() };
  const accessToken = renderToken(row.accountId, sessionId, now);
  const refreshToken = randomToken();
  state.accessTokens.set(accessToken, { sessionId, expiresAt: now + expiresIn * 1000 });
  state.refreshTokens.set(refreshToken, { sessionId, expiresAt, rotated: false });
  return { accessToken, refreshToken, expiresIn, refreshExpiresIn: secondsBetween(now, expiresAt) };
}

function secondsBetween(from: number, to: number): number {
  return Math.floor((to - from) / 1000);
}

/** Ends the sessions of an account at once, all but one. Answers the ids of those that it ended. */
export function endSessions(state: People, accountId: string, exceptId: string | null): string[] {
  const live = [...state.sessions.values()].filter(
    (row) => row.accountId === accountId && row.value.id !== exceptId && row.endedAt === null,
  );
  for (const row of live) row.endedAt = state.now();
  return live.map((row) => row.value.id);
}

/** The caller of an access token; null when the token is invalid, or its session is over. */
export function sessionOfToken(
  state: People,
  text: string,
): { readonly accountId: string; readonly sessionId: string; readonly key: { value: ApiKey } } | null {
  const token = state.accessTokens.get(text);
  const session = token === undefined ? undefined : state.sessions.get(token.sessionId);
  if (token === undefined || session?.endedAt !== null || token.expiresAt <= state.now()) return null;
  const { accountId, value } = session;
  const expiresAt = new Date(token.expiresAt).toISOString();
  return {
    accountId,
    sessionId: value.id,
    key: { value: { ...UNLIMITED, id: value.id, expiresAt, createdAt: expiresAt } },
  };
}

/** What an account's owner may do without a key: everything. */
export const UNLIMITED = {
  ...{ name: "", prefix: "", last4: "", scopes: null, vaultIds: null, chainAddress: null, chainPublicKey: null },
  ...{ budgets: null, budgetUse: null, accessLevel: "owner", lastUsedAt: null, revokedAt: null },
} as const;

/** 256 random bits in base64url. */
export function randomToken(): string {
  return base64url(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))));
}

/** Shaped like the service's own; nobody checks this signature. */
function renderToken(accountId: string, sessionId: string, now: number): string {
  const seconds = Math.floor(now / 1000);
  const claims = { sub: accountId, sid: sessionId, iat: seconds, exp: seconds + ACCESS_TOKEN_SECONDS, typ: "access" };
  const parts = [
    { alg: "HS256", kid: "fake" },
    { ...claims, jti: crypto.randomUUID() },
  ];
  return [...parts.map((part) => base64url(JSON.stringify(part))), randomToken()].join(".");
}

export function base64url(binary: string): string {
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
