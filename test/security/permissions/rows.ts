/** Credentials and codes as rows, written past the service: expired and ended ones cannot be made through it. */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { renderInviteCode, renderKey, type Scope } from "@coffer/contract";
import type { Database } from "@coffer/server/ports/database";
import { signToken } from "../../journeys/kit/access-token.ts";

/** Of every account in the world. */
export const PASSWORD = "granite otter 71 lanterns";

export interface KeyOptions {
  readonly scopes?: readonly Scope[] | null;
  readonly vaultIds?: readonly string[] | null;
  readonly agent?: boolean;
  readonly expired?: boolean;
  readonly revoked?: boolean;
}

export interface SessionOptions {
  /** The session was ended. */
  readonly ended?: boolean;
  /** The session is over by time. */
  readonly expired?: boolean;
  /** The access token is over by time, its session is not. */
  readonly staleToken?: boolean;
}

export interface InsertedSession {
  readonly id: string;
  readonly accessToken: string;
  readonly refreshToken: string;
}

type Account = { readonly id: string };

export interface Rows {
  /** Answers the raw key. */
  key(account: Account, options?: KeyOptions): Promise<string>;
  session(account: Account, options?: SessionOptions): Promise<InsertedSession>;
  /** Answers the code, good for one sign-up. */
  accessCode(): Promise<string>;
  invite(account: Account, vaultIds: readonly string[]): Promise<{ readonly id: string; readonly code: string }>;
  /** Answers the token that was mailed. */
  mailToken(account: Account & { readonly email: string }, purpose: "verify" | "reset"): Promise<string>;
  verifyEmail(accountId: string): Promise<void>;
}

/** Any address that is not the account's own makes an agent's key (specification §2.6). */
const AGENT_ADDRESS = `0x${"a".repeat(64)}`;
const HOUR = 3_600_000;

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const json = (list: readonly string[] | null | undefined): string | null => (list ? JSON.stringify(list) : null);

/** `jwtKey`: what the server signs access tokens with. */
export function openRows(database: Database, jwtKey: { readonly kid: string; readonly secret: Uint8Array }): Rows {
  const { build } = database;
  return {
    async key(account, options = {}) {
      const text = renderKey(randomBytes(32));
      await database.run(build.insertInto("api_keys").values(keyRow(account, text, options)));
      return text;
    },
    async session(account, options = {}) {
      const { row, tokens } = newSession(account, options, jwtKey);
      await database.run(build.insertInto("sessions").values(row));
      const { id: session_id, created_at, expires_at } = row;
      const hash = sha256(tokens.refreshToken);
      const refreshRow = { hash, session_id, created_at, expires_at, rotated_at: null };
      await database.run(build.insertInto("refresh_tokens").values(refreshRow));
      return { id: session_id, ...tokens };
    },
    async accessCode() {
      const code = randomBytes(10).toString("hex").toUpperCase();
      const row = {
        id: randomUUID(),
        hash: sha256(code),
        note: null,
        uses_left: 1,
        expires_at: null,
        revoked_at: null,
      };
      await database.run(build.insertInto("access_codes").values({ ...row, created_at: Date.now() }));
      return code;
    },
    async invite(account, vaultIds) {
      const code = renderInviteCode(randomBytes(32));
      const row = inviteRow(account, code, vaultIds);
      await database.run(build.insertInto("invites").values(row));
      return { id: row.id, code };
    },
    async mailToken({ id, email }, purpose) {
      const text = randomBytes(32).toString("base64url");
      const row = { hash: sha256(text), account_id: id, purpose, email, expires_at: Date.now() + HOUR, used_at: null };
      await database.run(build.insertInto("mail_tokens").values(row));
      return text;
    },
    async verifyEmail(accountId) {
      await database.run(build.updateTable("accounts").set({ email_verified: 1 }).where("id", "=", accountId));
    },
  };
}

function keyRow(account: Account, text: string, options: KeyOptions) {
  return {
    id: randomUUID(),
    account_id: account.id,
    name: "test",
    hash: sha256(text),
    prefix: "cof_",
    last4: text.slice(-4),
    scopes_json: json(options.scopes),
    vault_ids_json: json(options.vaultIds),
    chain_address: options.agent === true ? AGENT_ADDRESS : null,
    expires_at: options.expired === true ? 1 : null,
    last_used_at: null,
    revoked_at: options.revoked === true ? 1 : null,
    created_at: Date.now(),
  };
}

function newSession(
  account: Account,
  { ended, expired, staleToken }: SessionOptions,
  { kid, secret }: { readonly kid: string; readonly secret: Uint8Array },
) {
  const now = Date.now();
  const endsAt = expired === true ? now - 1 : now + HOUR;
  const row = {
    id: randomUUID(),
    account_id: account.id,
    method: "password",
    user_agent: null,
    created_at: now,
    last_used_at: now,
    expires_at: endsAt,
    ends_at: endsAt,
    revoked_at: ended === true ? now : null,
  };
  const iat = Math.floor(now / 1000) - (staleToken === true ? 901 : 0);
  const claims = { sub: account.id, sid: row.id, iat, exp: iat + 900, jti: randomUUID(), typ: "access" };
  const accessToken = signToken({ header: { alg: "HS256", kid, typ: "JWT" }, claims }, secret);
  return { row, tokens: { accessToken, refreshToken: randomBytes(32).toString("base64url") } };
}

function inviteRow(account: Account, code: string, vaultIds: readonly string[]) {
  const now = Date.now();
  return {
    id: randomUUID(),
    account_id: account.id,
    name: "test",
    hash: sha256(code),
    scopes_json: null,
    vault_ids_json: json(vaultIds),
    key_expires_at: null,
    access_until: null,
    expires_at: now + HOUR,
    used_at: null,
    revoked_at: null,
    key_id: null,
    chain_address: null,
    address_proof: null,
    created_at: now,
  };
}
