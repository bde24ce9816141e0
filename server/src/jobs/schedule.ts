/** Work that comes back, one run at a time. */
import type { Lease, Leases } from "../ports/leases.ts";
import type { JobLog } from "../job-log.ts";
import { LeaseLostError } from "./fenced-database.ts";

export interface Job {
  readonly name: string;
  /** From the end of a run to the beginning of the next, so that two runs never overlap. Milliseconds. */
  readonly pause: number;
  /** What it returns is logged when any of its numbers is not 0. The signal asks a long run to end early. */
  run(signal: AbortSignal): Promise<Readonly<Record<string, number>>>;
}

/** How often a process asks whether the jobs are its own now. Milliseconds. */
const ASK_AGAIN = 5_000;

export interface Scheduling {
  readonly log: JobLog;
  readonly leases: Pick<Leases, "acquire">;
}

/**
 * Runs the jobs in one process of all that share the database: the one that holds their lease.
 * @param jobsOf makes them for each holding of the lease.
 * @returns stops everything; resolves when the running ones have ended.
 */
export function schedule(jobsOf: (lease: Lease) => readonly Job[], { log, leases }: Scheduling): () => Promise<void> {
  const stopping = new AbortController();
  const follow = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        const lease = await leases.acquire("jobs");
        if (lease !== null) {
          await runUntil(AbortSignal.any([stopping.signal, lease.signal]), jobsOf(lease), log);
          await lease.release();
        }
      } catch (error) {
        log.error({ job: "lease", err: error }, "job failed");
      }
      await pause(ASK_AGAIN, stopping.signal);
    }
  };
  const ended = follow();
  return () => {
    stopping.abort();
    return ended;
  };
}

/** Runs the jobs one after the other at once, then each at its own pace. A failure is logged and the job comes back. */
async function runUntil(ending: AbortSignal, jobs: readonly Job[], log: JobLog): Promise<void> {
  const began = performance.now();
  const comingBack: Promise<void>[] = [];
  for (const job of jobs) {
    if (ending.aborted) break;
    await runLogged(job, ending, log);
    comingBack.push(comeBack(job, ending, log));
  }
  log.info({ job: "start-up", milliseconds: performance.now() - began }, "first round done");
  await Promise.all(comingBack);
}

async function comeBack(job: Job, ending: AbortSignal, log: JobLog): Promise<void> {
  while (await pause(job.pause, ending)) await runLogged(job, ending, log);
}

/** False when it was ended. */
function pause(milliseconds: number, ending: AbortSignal): Promise<boolean> {
  if (ending.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      ending.removeEventListener("abort", end);
      resolve(true);
    }, milliseconds).unref();
    ending.addEventListener("abort", end, { once: true });
  });
}

async function runLogged(job: Job, signal: AbortSignal, log: JobLog): Promise<void> {
  try {
    const outcome = await job.run(signal);
    if (Object.values(outcome).some((count) => count !== 0)) log.info({ job: job.name, ...outcome }, "job done");
  } catch (error) {
    if (error instanceof LeaseLostError) log.info({ job: job.name }, "ended: another process runs the jobs by now");
    else log.error({ job: job.name, err: error }, "job failed");
  }
}
