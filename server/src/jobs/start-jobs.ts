/** The server's work without a request: what has expired goes, and what a crash left behind is cleaned up. */
import { removeOldEntries } from "./audit-retention.ts";
import { deleteQueuedBlobs } from "./blob-deletions.ts";
import { expireEntries, expireIdempotency, expireUploads, expireVersions } from "./expiry.ts";
import { expireIdentity } from "./identity-expiry.ts";
import { openDeletionGate } from "./deletion-gate.ts";
import { mailJob } from "./mail.ts";
import { type Job, schedule } from "./schedule.ts";
import { reportDangling, sweepOrphans } from "./sweep.ts";
import { purgeTrash } from "./trash-purge.ts";
import { tellEnds } from "../features/members/ending.ts";
import { removeEndedSecrets, removeOldDeliveries } from "../features/webhooks/delivery/retention.ts";
import { removeFull } from "../features/rates/store.ts";
import { RENEW_EVERY } from "../features/pairing/pairing.ts";
import { openLeases } from "../ports/leases.ts";
import type { Storage } from "../storage.ts";
import type { JobDeps } from "./job-deps.ts";

const HOUR = 60 * 60_000;
/** Deleted content should be gone soon, above all on a full disk; an empty look costs one index probe. */
const DELETION_PAUSE = 15_000;
/** Receivers wait for it; an empty look costs one index probe. */
const ENDS_PAUSE = 10_000;
/** They do not count as usage: what is over their bounds should not stay long. */
const VERSIONS_PAUSE = 60_000;

/** A minute of a busy service leaves a row for each of its callers. */
const RATES_PAUSE = 60_000;

const forgetRates = (deps: JobDeps): Job[] =>
  deps.database.capabilities.dialect === "postgres"
    ? [
        {
          name: "forget full rates",
          pause: RATES_PAUSE,
          run: async () => ({ removed: await removeFull(deps.database) }),
        },
      ]
    : [];

/**
 * Starts the jobs, in the process that holds their lease: each runs once now, afterwards at its own pace. Never throws.
 * @param places see {@link Storage}: where rows and contents are, for the log.
 * @param aloneSince see {@link Storage}: the first sweep goes by it.
 * @returns stops them; resolves when the running one has ended.
 */
export function startJobs(
  deps: JobDeps,
  places: Storage["places"],
  aloneSince: Storage["aloneSince"],
): () => Promise<void> {
  const { log } = deps;
  const gate = openDeletionGate(deps, places);
  let leftBefore = aloneSince;
  return schedule(
    [
      {
        name: "renew the store's mark",
        pause: RENEW_EVERY,
        run: async (signal) => {
          await gate.renew(signal);
          return {};
        },
      },
      { name: "expire uploads", pause: HOUR, run: (signal) => expireUploads(deps, signal) },
      { name: "tell of ended members", pause: ENDS_PAUSE, run: (signal) => tellEnds(deps, signal) },
      { name: "expire replaced versions", pause: VERSIONS_PAUSE, run: (signal) => expireVersions(deps, signal) },
      { name: "expire replaced entries", pause: HOUR, run: (signal) => expireEntries(deps, signal) },
      { name: "expire idempotency keys", pause: HOUR, run: () => expireIdempotency(deps) },
      { name: "expire sign-in", pause: HOUR, run: (signal) => expireIdentity(deps, signal) },
      { name: "remove old audit entries", pause: HOUR, run: (signal) => removeOldEntries(deps, signal) },
      { name: "remove old deliveries", pause: HOUR, run: (signal) => removeOldDeliveries(deps, signal) },
      { name: "remove rotated webhook secrets", pause: HOUR, run: () => removeEndedSecrets(deps) },
      ...forgetRates(deps),
      { name: "purge trash", pause: HOUR, run: (signal) => purgeTrash(deps, signal) },
      {
        name: "delete blobs",
        pause: DELETION_PAUSE,
        run: async (signal) => ((await gate.mayDelete()) ? deleteQueuedBlobs(deps, signal) : {}),
      },
      {
        name: "sweep orphans",
        pause: HOUR,
        run: async (signal) => {
          const options = { leftBefore, signal };
          leftBefore = null;
          if (await gate.mayDelete()) return sweepOrphans(deps, options);
          // What was put back from a copy is looked through, too.
          return { orphans: 0, dangling: await reportDangling(deps, signal) };
        },
      },
      // Last: a mail server that does not answer must not hold up the others' first run.
      mailJob(deps),
    ],
    { log, leases: openLeases(deps) },
  );
}
