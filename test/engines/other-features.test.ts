/** Features whose acts meet less often than those of `features.test.ts`, or that once passed on SQLite alone for what they took for granted. */
import { runOnEngines } from "./on-engines.ts";

runOnEngines(
  "server/src/features/sessions/refreshing.test.ts",
  "server/src/features/mail-tokens/processes.test.ts",
  "server/src/features/identity-provider/{users,zklogin}.test.ts",
  "server/src/features/webhooks/delivery/{endpoint-changes,interruptions,start-webhooks}.test.ts",
  "server/src/features/moving/*.test.ts",
  "server/src/jobs/mail.test.ts",
  "server/src/operator/access-codes.test.ts",
);
