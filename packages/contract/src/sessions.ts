/** The web sessions of an account (decisions §3). A session is the family of its refresh tokens. */
import * as z from "zod/mini";
import { object, strictObject, type Named, type Parsed } from "./object.ts";
import { endpoint } from "./endpoint.ts";
import { openEnum, nextPage, pageQuery, timestamp, uuid } from "./values.ts";

const sessionSchema = object({
  /** Identifier: a UUID in lower case. It never changes. */
  id: uuid,
  /** How the session began: `password`, `idp` or `zklogin`. */
  method: openEnum(["password", "idp", "zklogin"]),
  /** Whether this call was made with this session. */
  current: z.boolean(),
  /** What the client called itself, at most 200 characters. Do not trust it. null: nothing was sent. */
  userAgent: z.nullable(z.string()),
  /** When it was created: RFC 3339 in UTC, with milliseconds. */
  createdAt: timestamp,
  /** When the session was last refreshed: RFC 3339 in UTC. */
  lastUsedAt: timestamp,
  /** When the newest refresh token ends: RFC 3339 in UTC. */
  expiresAt: timestamp,
});

/** A web session. */
export interface Session extends Parsed<typeof sessionSchema> {}

export const session: Named<Session> = sessionSchema;

const ownerEndpoint = { auth: "credential", access: "owner", scope: "account:write", vaultLimit: "refuse" } as const;

export const sessionsGroup = {
  /** List the live web sessions, newest first. */
  list: endpoint({
    ...ownerEndpoint,
    id: "sessions.list",
    method: "GET",
    path: "/api/auth/sessions",
    effect: "read",
    query: strictObject(pageQuery),
    status: 200,
    output: object({
      /** Sessions, newest first. */
      sessions: z.array(session),
      ...nextPage,
    }),
    errors: [],
  }),
  /** End a web session at once; a second call changes nothing. */
  end: endpoint({
    ...ownerEndpoint,
    id: "sessions.end",
    method: "DELETE",
    path: "/api/auth/sessions/{sessionId}",
    effect: "delete",
    params: object({
      /** UUID of the session. */
      sessionId: uuid,
    }),
    status: 204,
    errors: ["not_found"],
  }),
} as const;
