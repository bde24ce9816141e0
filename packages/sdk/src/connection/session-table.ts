/**
 * Web sessions of this machine in a profile store, by name. Each is bound to the origin of the service that gave it. What
 * a session leaves behind is erased: a token that was used up tells nothing, and after a sign-out none is there.
 */
import * as z from "zod/mini";
import { Secret } from "../http/secret.ts";
import { decodeJson, encodeJson } from "../store/json-row.ts";
import { rowsOf, type ProfileStore, type RowChange } from "../store/profile-store.ts";
import type { StoredSession } from "./web-session.ts";

const sessionRow = z.object({
  origin: z.string(),
  refreshToken: z.string().check(z.minLength(1)),
  accessToken: z.nullable(z.string()),
  /** Milliseconds since the Unix epoch. */
  expiresAt: z.nullable(z.number()),
  presented: z.boolean(),
});

const TABLE = "sessions";
const LASTING = { durability: "strict", erase: true } as const;

export interface BoundSession {
  /** Of the service: no other one is sent its tokens. */
  readonly origin: string;
  readonly session: StoredSession;
}

/** All sessions by name. */
export async function readSessions(store: ProfileStore): Promise<ReadonlyMap<string, BoundSession>> {
  const sessions = new Map<string, BoundSession>();
  for await (const { key, value } of rowsOf(store.table(TABLE))) sessions.set(key, decode(value));
  return sessions;
}

/** Keeps sessions; null forgets one. */
export async function writeSessions(
  store: ProfileStore,
  sessions: ReadonlyMap<string, BoundSession | null>,
): Promise<void> {
  const isKept = [...sessions.values()].some((session) => session !== null);
  // Signing out of nothing makes no table.
  if (!isKept && (await store.tables(TABLE)).length === 0) return;
  const changes = [...sessions].map(([key, session]): RowChange => ({ key, value: encode(session) }));
  const update = (rows: ReadonlyMap<string, Uint8Array>) => ({
    result: undefined,
    changes: changes.filter(({ key, value }) => value !== null || rows.has(key)),
  });
  await store.table(TABLE).update([...sessions.keys()], update, LASTING);
}

/** Keeps the next tokens of a session that is there. False: it was forgotten meanwhile, and is not put back. */
export async function replaceSession(store: ProfileStore, name: string, session: StoredSession): Promise<boolean> {
  return await store.table(TABLE).update(
    [name],
    (rows) => {
      const value = rows.get(name);
      if (value === undefined) return { result: false };
      const next = { origin: decode(value).origin, session };
      return { result: true, changes: [{ key: name, value: encode(next) }] };
    },
    LASTING,
  );
}

function decode(value: Uint8Array): BoundSession {
  const { origin, refreshToken, accessToken, expiresAt, presented } = decodeJson(sessionRow, value, "a web session");
  const session = {
    refreshToken: new Secret(refreshToken),
    accessToken: accessToken === null ? null : new Secret(accessToken),
    expiresAt,
    presented,
  };
  return { origin, session };
}

function encode(bound: BoundSession | null): Uint8Array | null {
  if (bound === null) return null;
  const { refreshToken, accessToken, expiresAt, presented } = bound.session;
  return encodeJson({
    origin: bound.origin,
    refreshToken: refreshToken.reveal(),
    accessToken: accessToken?.reveal() ?? null,
    expiresAt,
    presented,
  });
}
