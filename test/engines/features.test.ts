/** What runs side by side, is cut off, or moves bytes: acts of other processes come between any two statements here. */
import { runOnEngines } from "./on-engines.ts";

runOnEngines(
  "server/src/features/files/upload/resumable/*.test.ts",
  "server/src/features/holds/*.test.ts",
  "server/src/features/files/upload/{faults,single}.test.ts",
  "server/src/features/invites/races.test.ts",
  "server/src/features/sessions/refreshing.test.ts",
  "server/src/features/mail-tokens/processes.test.ts",
  "server/src/features/identity-provider/{users,zklogin}.test.ts",
  "server/src/features/webhooks/delivery/{dispatch,endpoint-changes,interruptions,queue,races,start-webhooks}.test.ts",
  "server/src/http/idempotency.test.ts",
  // These once passed on SQLite alone, for what they took for granted.
  "server/src/features/events/{feed,heads}.test.ts",
  "server/src/features/moving/*.test.ts",
  "server/src/jobs/mail.test.ts",
  "server/src/operator/access-codes.test.ts",
);
