/** Rows of sign-in whose time has ended. Access codes stay: the operator's list shows their state. */
import { deleteEnded, type Ending } from "./identity/store.ts";
import { BATCH } from "./store.ts";
import type { JobDeps } from "./job-deps.ts";

const DAY = 86_400_000;

/** Rows stay a day longer than they count for anything: a clock that runs ahead for some hours must end nobody's session. */
const SLACK = DAY;
/** A payment provider repeats an event for days; a repeat of one that is forgotten would count twice. */
const EVENTS_KEPT = 30 * DAY;

/**
 * Refresh tokens stay until they would have expired, used ones too: a second use has to be noticed until then
 * (specification §3). A session goes when its newest token has; one that was ended stays as long, so that its tokens get
 * the same answer. Tokens before sessions, because a session takes its tokens along.
 */
export const ENDINGS: readonly (Ending & { readonly keptFor: number })[] = [
  { table: "refresh_tokens", key: "hash", endsAt: "expires_at", keptFor: SLACK },
  { table: "sessions", key: "id", endsAt: "expires_at", keptFor: SLACK },
  { table: "sign_ins", key: "state_hash", endsAt: "expires_at", keptFor: SLACK },
  { table: "chain_challenges", key: "nonce_hash", endsAt: "expires_at", keptFor: SLACK },
  { table: "mail_tokens", key: "hash", endsAt: "expires_at", keptFor: SLACK },
  { table: "sign_in_delays", key: "key", endsAt: "expires_at", keptFor: SLACK },
  { table: "payment_events", key: "id", endsAt: "received_at", keptFor: EVENTS_KEPT },
];

/** Deletes in small transactions, so that requests run in between. Resolves with how many rows went. */
export async function expireIdentity(
  { database, clock }: Pick<JobDeps, "database" | "clock">,
  signal: AbortSignal,
): Promise<{ expired: number }> {
  let total = 0;
  for (const ending of ENDINGS) {
    for (let deleted = BATCH; deleted >= BATCH && !signal.aborted; total += deleted) {
      const cutoff = clock.now() - ending.keptFor;
      deleted = await database.transaction((transaction) => deleteEnded(transaction, ending, cutoff), {
        freesSpace: true,
      });
    }
  }
  return { expired: total };
}
