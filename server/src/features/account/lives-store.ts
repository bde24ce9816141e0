/** The SQL of the validity of keys and sessions. */
import { prepared, type Queries } from "../../ports/database.ts";

/** What may have changed of a key since its request was let in. */
export const findKeyLife = prepared((build, value: { id: string }) =>
  build
    .selectFrom("api_keys")
    .innerJoin("accounts", "accounts.id", "api_keys.account_id")
    .select([
      "api_keys.id as id",
      "api_keys.revoked_at as revoked_at",
      "api_keys.expires_at as expires_at",
      "api_keys.chain_address as chain_address",
      "accounts.chain_address as account_chain_address",
    ])
    .where("api_keys.id", "=", value.id),
);

/** What authentication looks up on every request of a session. */
export interface SessionLifeRow {
  account_id: string;
  expires_at: number;
  revoked_at: number | null;
  chain_address: string | null;
}

const lifeOf = (build: Queries["build"], value: { id: string }) =>
  build
    .selectFrom("sessions")
    .innerJoin("accounts", "accounts.id", "sessions.account_id")
    .select(["sessions.account_id", "sessions.expires_at", "sessions.revoked_at", "accounts.chain_address"])
    .where("sessions.id", "=", value.id);

/** For the callback of the socket that the request arrived on (docs/decisions/0009-one-snapshot-a-turn.md). */
export const findSessionOnArrival = prepared(lifeOf, { remembered: true, onArrival: true });

/** For any later moment. */
export const findSessionLife = prepared(lifeOf);
