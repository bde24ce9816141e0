/** What runs side by side, is cut off, or moves bytes: acts of other processes come between any two statements here. */
import { runOnEngines } from "./on-engines.ts";

runOnEngines(
  "server/src/features/files/upload/resumable/*.test.ts",
  "server/src/features/holds/*.test.ts",
  "server/src/features/files/upload/{faults,single}.test.ts",
  "server/src/features/invites/races.test.ts",
  "server/src/features/webhooks/delivery/{dispatch,queue,races}.test.ts",
  "server/src/http/idempotency.test.ts",
  "server/src/features/events/{feed,heads}.test.ts",
);
