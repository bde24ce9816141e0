/**
 * The caller: an API key or a session's access token in the Authorization header, or in development a header or nobody
 * (specification §5).
 */
import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { type AccessLevel, isKeyText, KEY_PREFIX, KEY_REFUSALS } from "@coffer/contract";
import type { Deps } from "../deps.ts";
import {
  type CredentialRow,
  findAccountForDevelopment,
  findCredential,
  findFirstAccount,
} from "../features/api-keys/store.ts";
import { findKeyLife } from "../features/account/lives-store.ts";
import { accessLevelOf, keyRefusal } from "../features/account/lives.ts";
import { parseBudgets } from "../features/budgets/rules.ts";
import { parseRights } from "../features/api-keys/rules.ts";
import {
  type AccessClaims,
  type AccessTokens,
  createAccessTokens,
  isFromTheFuture,
  isOver,
} from "../features/sessions/access-tokens.ts";
import { isLiveSession } from "../features/account/lives.ts";
import { findSessionLife, findSessionOnArrival, type SessionLifeRow } from "../features/account/lives-store.ts";
import { authorizeDevelopmentRequest } from "./development-origin.ts";
import { ServiceError } from "../service-error.ts";
import type { Principal, RequestOrigin } from "../handler.ts";
import { LastUsed } from "./last-used.ts";
import { OutlivedKeys } from "./outlived-keys.ts";

export interface Authenticator {
  /** Rejects with `invalid_credential`. Only who holds the whole key learns more: that it was revoked, or has expired. */
  authenticate(headers: IncomingHttpHeaders, origin: RequestOrigin): Promise<Principal>;
  /**
   * Rejects when the principal's key was revoked or has expired since, or its session was ended or has expired. A transfer
   * that began with a valid access token outlives the token's 15 minutes, but not its session. Resolves with the access
   * level that the principal has by now: a key of the owner's address is an agent's once the owner links another.
   */
  recheck(principal: Principal): Promise<AccessLevel>;
  /** When keys were last used, to be written off the request path. */
  readonly lastUsed: LastUsed;
  /** Keys that were refused for their age, to be marked off the request path. */
  readonly outlived: OutlivedKeys;
}

type Needs = Pick<Deps, "database" | "clock" | "settings" | "jwtKeys">;
type KeyLife = Pick<CredentialRow, "id" | "revoked_at" | "expires_at">;

const BEARER = /^Bearer +([\w.~+/=-]+) *$/i;

export function createAuthenticator(deps: Needs): Authenticator {
  const lastUsed = new LastUsed();
  const outlived = new OutlivedKeys();
  const requireLiveKey = <Row extends KeyLife>(row: Row | null, now: number): Row => {
    if (row === null) throw new ServiceError("invalid_credential");
    // The clock may have been set back since.
    const refusal = keyRefusal(row, now) ?? (outlived.has(row.id) ? "expired" : null);
    if (refusal === null) return row;
    if (refusal === "expired") outlived.add(row.id);
    throw new ServiceError("invalid_credential", KEY_REFUSALS[refusal]);
  };
  const development = deps.settings.mode === "development";
  const tokens = createAccessTokens(deps.jwtKeys);
  return {
    lastUsed,
    outlived,
    async authenticate(headers, origin) {
      const { authorization } = headers;
      if (authorization === undefined && development) return authenticateDevelopment(deps, headers, origin);
      const text = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
      if (text === undefined) throw new ServiceError("invalid_credential");
      // The checksum spares the look-up of texts that cannot be keys.
      if (text.startsWith(`${KEY_PREFIX}_`) && !isKeyText(text))
        throw new ServiceError("invalid_credential", KEY_REFUSALS.mistyped);
      if (!isKeyText(text)) return authenticateSession(deps, tokens, text, origin);
      const found = await deps.database.first(findCredential(deps.database, { hash: hash("sha256", text, "hex") }));
      const now = deps.clock.now();
      const row = requireLiveKey(found, now);
      lastUsed.touch(row.id, now, row.last_used_at);
      return renderPrincipal(row, origin);
    },
    async recheck(principal) {
      if (principal.sessionId !== null) await requireLiveSession(deps, principal.sessionId);
      if (principal.keyId === null) return principal.accessLevel;
      const found = await deps.database.first(findKeyLife(deps.database, { id: principal.keyId }));
      const row = requireLiveKey(found, deps.clock.now());
      return accessLevelOf(row.chain_address, row.account_chain_address);
    },
  };
}

/**
 * Three base64url texts (RFC 7515 §7.1), the last of 32 bytes without spare bits (RFC 4648 §3.5). Any other form is
 * not worth a signature check, and one token has one text.
 */
const JWT = /^[\w-]{2,512}\.[\w-]{2,1024}\.[\w-]{42}[AEIMQUYcgkosw048]$/;

/** The signature proves that the token was made here, the clock whether it is over, and the row whether its session is open. */
async function authenticateSession(
  deps: Needs,
  tokens: AccessTokens,
  text: string,
  origin: RequestOrigin,
): Promise<Principal> {
  if (!JWT.test(text)) throw new ServiceError("invalid_credential");
  const recalled = tokens.recall(text);
  const claims = recalled ?? (await tokens.verify(text));
  const now = deps.clock.now();
  if (claims === null || isFromTheFuture(claims, now)) throw new ServiceError("invalid_credential");
  if (isOver(claims, now)) {
    tokens.markExpired(text);
    throw new ServiceError("invalid_credential");
  }
  // Verifying waits, so that the rest no longer happens in the callback of the socket.
  const find = recalled === null ? findSessionLife : findSessionOnArrival;
  const row = await deps.database.first(find(deps.database, { id: claims.sid }));
  if (row === null || row.account_id !== claims.sub || !isLiveSession(row, now)) {
    throw new ServiceError("invalid_credential");
  }
  return renderSessionPrincipal(claims, row, origin);
}

async function requireLiveSession({ database, clock }: Needs, id: string): Promise<void> {
  const row = await database.first(findSessionLife(database, { id }));
  if (row === null || !isLiveSession(row, clock.now())) throw new ServiceError("invalid_credential");
}

/** Sessions are the owner's, with all scopes and every vault (decisions §4). */
function renderSessionPrincipal(claims: AccessClaims, row: SessionLifeRow, origin: RequestOrigin): Principal {
  return {
    kind: "session",
    accountId: row.account_id,
    keyId: null,
    sessionId: claims.sid,
    name: null,
    accessLevel: "owner",
    scopes: null,
    vaultIds: null,
    chainAddress: row.chain_address,
    expiresAt: claims.exp * 1000,
    budgets: [],
    origin,
  };
}

function renderPrincipal(row: CredentialRow, origin: RequestOrigin): Principal {
  const { scopes, vaultIds } = parseRights(row);
  return {
    kind: "api-key",
    accountId: row.account_id,
    keyId: row.id,
    sessionId: null,
    name: row.name,
    accessLevel: accessLevelOf(row.chain_address, row.account_chain_address),
    scopes: scopes === null ? null : new Set(scopes),
    vaultIds: vaultIds === null ? null : new Set(vaultIds),
    chainAddress: row.chain_address,
    expiresAt: row.expires_at,
    budgets: parseBudgets(row.budgets_json),
    origin,
  };
}

/** Decisions §7: X-Dev-User-Id, X-Dev-Idp-Id, else the first user; unknown, or an empty database, is 401. */
async function authenticateDevelopment(
  deps: Needs,
  headers: IncomingHttpHeaders,
  origin: RequestOrigin,
): Promise<Principal> {
  authorizeDevelopmentRequest(headers);
  const account = await findDevelopmentAccount(deps, headers);
  if (account === null) throw new ServiceError("invalid_credential");
  return {
    kind: "development",
    accountId: account.id,
    keyId: null,
    sessionId: null,
    name: null,
    accessLevel: "owner",
    scopes: null,
    vaultIds: null,
    chainAddress: account.chain_address,
    expiresAt: null,
    budgets: [],
    origin,
  };
}

function findDevelopmentAccount({ database }: Needs, headers: IncomingHttpHeaders) {
  const userId = headers["x-dev-user-id"];
  if (typeof userId === "string") return database.first(findAccountForDevelopment.byId(database, { id: userId }));
  const idpId = headers["x-dev-idp-id"];
  if (typeof idpId === "string") return database.first(findAccountForDevelopment.byIdp(database, { idpId }));
  return database.first(findFirstAccount(database, {}));
}
