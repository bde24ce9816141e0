/** The server's work without a request: what has expired goes, and what a crash left behind is cleaned up. */
import { removeOldEntries } from "./audit-retention.ts";
import { deleteQueuedBlobs } from "./blob-deletions.ts";
import { expireEntries, expireIdempotency, expireUploads, expireVersions } from "./expiry.ts";
import { expireIdentity } from "./identity-expiry.ts";
import { mailJob } from "./mail.ts";
import { type Job, schedule } from "./schedule.ts";
import { sweepOrphans } from "./sweep.ts";
import { purgeTrash } from "./trash-purge.ts";
import { tellEnds } from "../features/members/ending.ts";
import { finishTreeActs } from "../features/tree-acts/writing.ts";
import { finishPurges } from "../features/vaults/purging.ts";
import { removeEndedSecrets, removeOldDeliveries } from "../features/webhooks/delivery/retention.ts";
import { removeFull } from "../features/rates/store.ts";
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

/** Changes in the folder wait for it; an empty look costs one index probe. */
const ACTS_PAUSE = 1_000;

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
 * @param aloneSince see {@link Storage}: the first sweep goes by it.
 * @returns stops them; resolves when the running one has ended.
 */
export function startJobs(deps: JobDeps, aloneSince: Storage["aloneSince"]): () => Promise<void> {
  const { log } = deps;
  let leftBefore = aloneSince;
  return schedule(
    [
      { name: "finish acts on folders", pause: ACTS_PAUSE, run: (signal) => finishTreeActs(deps, signal) },
      { name: "finish deletions of vaults", pause: ACTS_PAUSE, run: (signal) => finishPurges(deps, signal) },
      { name: "expire uploads", pause: HOUR, run: (signal) => expireUploads(deps, signal) },
      { name: "tell of ended members", pause: ENDS_PAUSE, run: (signal) => tellEnds(deps, signal) },
      { name: "expire replaced versions", pause: VERSIONS_PAUSE, run: (signal) => expireVersions(deps, signal) },
      { name: "expire replaced entries", pause: HOUR, run: (signal) => expireEntries(deps, signal) },
      { name: "expire idempotency keys", pause: HOUR, run: (signal) => expireIdempotency(deps, signal) },
      { name: "expire sign-in", pause: HOUR, run: (signal) => expireIdentity(deps, signal) },
      { name: "remove old audit entries", pause: HOUR, run: (signal) => removeOldEntries(deps, signal) },
      { name: "remove old deliveries", pause: HOUR, run: (signal) => removeOldDeliveries(deps, signal) },
      { name: "remove rotated webhook secrets", pause: HOUR, run: () => removeEndedSecrets(deps) },
      ...forgetRates(deps),
      { name: "purge trash", pause: HOUR, run: (signal) => purgeTrash(deps, signal) },
      { name: "delete blobs", pause: DELETION_PAUSE, run: (signal) => deleteQueuedBlobs(deps, signal) },
      {
        name: "sweep orphans",
        pause: HOUR,
        run: (signal) => {
          const options = { leftBefore, signal };
          leftBefore = null;
          return sweepOrphans({ ...deps, log }, options);
        },
      },
      // Last: a mail server that does not answer must not hold up the others' first run.
      mailJob(deps),
    ],
    { log, leases: openLeases(deps) },
  );
}
