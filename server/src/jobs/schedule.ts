/** Work that comes back, one run at a time. */
import type { JobLog } from "../job-log.ts";

export interface Job {
  readonly name: string;
  /** From the end of a run to the beginning of the next, so that two runs never overlap. Milliseconds. */
  readonly pause: number;
  /** What it answers is logged when any of its numbers is not 0. The signal asks a long run to end early. */
  run(signal: AbortSignal): Promise<Readonly<Record<string, number>>>;
}

/**
 * Runs the jobs one after the other at once, then each at its own pace. A failure is logged and the job comes back.
 * @returns stops everything; resolves when the running ones have ended.
 */
export function schedule(jobs: readonly Job[], log: JobLog): () => Promise<void> {
  const stopping = new AbortController();
  const timers = new Map<Job, NodeJS.Timeout>();
  const running = new Set<Promise<void>>();
  const track = (work: Promise<void>): void => {
    running.add(work);
    void work.finally(() => running.delete(work));
  };
  const runAndComeBack = async (job: Job): Promise<void> => {
    await runLogged(job, stopping.signal, log);
    if (stopping.signal.aborted) return;
    timers.set(job, setTimeout(() => track(runAndComeBack(job)), job.pause).unref());
  };
  const runAll = async (): Promise<void> => {
    const began = performance.now();
    for (const job of jobs) if (!stopping.signal.aborted) await runAndComeBack(job);
    log.info({ job: "start-up", milliseconds: performance.now() - began }, "first round done");
  };
  track(runAll());
  return async () => {
    stopping.abort();
    for (const timer of timers.values()) clearTimeout(timer);
    await Promise.all(running);
  };
}

async function runLogged(job: Job, signal: AbortSignal, log: JobLog): Promise<void> {
  try {
    const outcome = await job.run(signal);
    if (Object.values(outcome).some((count) => count !== 0)) log.info({ job: job.name, ...outcome }, "job done");
  } catch (error) {
    log.error({ job: job.name, err: error }, "job failed");
  }
}
