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
import { reportEnds } from "../features/members/ending.ts";
import { finishTreeActs } from "../features/tree-acts/writing.ts";
import { finishHistoryRemovals } from "../features/files/history-removal.ts";
import { finishPurges } from "../features/vaults/purging.ts";
import { finishRetentionChanges } from "../features/vaults/retention.ts";
import { removeEndedSecrets, removeOldDeliveries } from "../features/webhooks/delivery/retention.ts";
import { removeFull } from "../features/rates/store.ts";
import { RENEW_EVERY } from "../features/pairing/pairing.ts";
import { type Lease, openLeases } from "../ports/leases.ts";
import type { Storage } from "../storage.ts";
import { fenced } from "./fenced-database.ts";
import type { JobDeps } from "./job-deps.ts";
import { RunningMarks } from "./running-time.ts";

const HOUR = 60 * 60_000;
/** What uploads that came to nothing left should be gone soon, above all on a full disk; an empty look costs two index probes. */
const DELETION_PAUSE = 15_000;
/** Receivers wait for it; an empty look costs one index probe. */
const ENDS_PAUSE = 10_000;
/** They do not count as usage: what is over their bounds should not stay long. */
const VERSIONS_PAUSE = 60_000;

/** Changes in the folder wait for it; an empty look costs one index probe. */
const ACTS_PAUSE = 1_000;

/** A minute of a busy service leaves a row for each of its callers. */
const RATES_PAUSE = 60_000;

const forgetRates = ({ database }: Pick<JobDeps, "database">): Job[] =>
  database.capabilities.dialect === "postgres"
    ? [{ name: "forget full rates", pause: RATES_PAUSE, run: async () => ({ removed: await removeFull(database) }) }]
    : [];

/**
 * Starts the jobs, in the process that holds their lease: each runs once now, afterwards at its own pace. Never throws.
 * @param places see {@link Storage}: where rows and contents are, for the log.
 * @returns stops them; resolves when the running one has ended.
 */
export function startJobs(deps: Omit<JobDeps, "runningTime">, places: Storage["places"]): () => Promise<void> {
  const { log } = deps;
  const jobsOf = (lease: Lease): readonly Job[] => {
    const fencedDeps = { ...deps, database: fenced(deps.database, lease) };
    const marks = new RunningMarks(fencedDeps);
    const held: JobDeps = { ...fencedDeps, runningTime: marks };
    const gate = openDeletionGate(held, places);
    return [
      marks.job,
      {
        name: "renew the store's mark",
        pause: RENEW_EVERY,
        run: async (signal) => {
          await gate.renew(signal);
          return {};
        },
      },
      // An act that somebody began is written to its end, whatever the clock says.
      { name: "finish acts on folders", pause: ACTS_PAUSE, run: (signal) => finishTreeActs(held, signal) },
      { name: "finish changes of retention", pause: ACTS_PAUSE, run: (signal) => finishRetentionChanges(held, signal) },
      { name: "finish deletions of pasts", pause: ACTS_PAUSE, run: (signal) => finishHistoryRemovals(held, signal) },
      { name: "finish deletions of vaults", pause: ACTS_PAUSE, run: (signal) => finishPurges(held, signal) },
      ...deletingJobs(gate).map((jobOf) => marks.waiting((clock) => jobOf({ ...held, clock }))),
      ...forgetRates(held),
      // Last: a mail server that does not answer must not hold up the others' first run.
      mailJob(held),
    ];
  };
  return schedule(jobsOf, { log, leases: openLeases(deps) });
}

type DeletingJob = (deps: JobDeps) => Job;

/** What deletes or expires something for good by the clock. All of it waits while the clock is doubted (running-time.ts). */
function deletingJobs(gate: ReturnType<typeof openDeletionGate>): readonly DeletingJob[] {
  const job =
    (name: string, pause: number, run: (deps: JobDeps, signal: AbortSignal) => ReturnType<Job["run"]>): DeletingJob =>
    (deps) => ({ name, pause, run: (signal) => run(deps, signal) });
  return [
    job("expire uploads", HOUR, expireUploads),
    job("tell of ended members", ENDS_PAUSE, reportEnds),
    job("expire replaced versions", VERSIONS_PAUSE, expireVersions),
    job("expire replaced entries", HOUR, expireEntries),
    job("expire idempotency keys", HOUR, expireIdempotency),
    job("expire sign-in", HOUR, expireIdentity),
    job("remove old audit entries", HOUR, removeOldEntries),
    job("remove old deliveries", HOUR, removeOldDeliveries),
    job("remove rotated webhook secrets", HOUR, removeEndedSecrets),
    job("purge trash", HOUR, purgeTrash),
    job("delete blobs", DELETION_PAUSE, async (deps, signal) =>
      (await gate.mayDelete()) ? deleteQueuedBlobs(deps, signal) : {},
    ),
    job("sweep orphans", HOUR, async (deps, signal) => {
      if (await gate.mayDelete()) return sweepForJob(deps, signal);
      // What was put back from a copy is looked through, too.
      return { orphans: 0, dangling: await reportDangling(deps, signal) };
    }),
  ];
}

/** For the log: what was found is told where it stops. */
async function sweepForJob(deps: JobDeps, signal: AbortSignal): Promise<Readonly<Record<string, number>>> {
  const { orphans, partials, putBack, dangling, stopped } = await sweepOrphans(deps, { signal });
  return { orphans, partials, putBack, dangling, stopped };
}
