/** The web sessions of an account (decisions §3). A session is the family of its refresh tokens. */
import * as z from "zod/mini";
import { endpoint } from "./endpoint.ts";
import { openEnum, pageOf, pageQuery, timestamp, uuid } from "./values.ts";

export const session = z.object({
  id: uuid,
  /** How the session began. */
  method: openEnum(["password", "idp", "zklogin"]),
  /** This call was made with it. */
  current: z.boolean(),
  /** The client's own name for itself, at most 200 characters; data from outside, do not trust it. */
  userAgent: z.nullable(z.string()),
  createdAt: timestamp,
  /** Time of the newest refresh. */
  lastUsedAt: timestamp,
  /** When the newest refresh token ends. */
  expiresAt: timestamp,
});

export interface Session extends z.infer<typeof session> {}

const owned = { auth: "credential", access: "owner", scope: "account:write", vaultLimit: "refuse" } as const;

export const sessionsGroup = {
  list: endpoint({
    ...owned,
    id: "sessions.list",
    method: "GET",
    path: "/api/auth/sessions",
    effect: "read",
    query: z.strictObject(pageQuery),
    status: 200,
    output: pageOf("sessions", session),
    errors: [],
  }),
  end: endpoint({
    ...owned,
    id: "sessions.end",
    method: "DELETE",
    path: "/api/auth/sessions/{sessionId}",
    effect: "delete",
    params: z.object({ sessionId: uuid }),
    status: 204,
    errors: ["not_found"],
  }),
} as const;
