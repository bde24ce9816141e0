/** TEST ONLY: what jobs need beside a service, with servers that have run for as long as its clock has, and that trust it. */
import type { JobLog } from "../job-log.ts";
import type { BlobStore } from "../ports/blob-store.ts";
import type { Clock } from "../ports/clock.ts";
import type { RunningTime } from "../ports/running-time.ts";
import { deleteQueuedBlobs } from "./blob-deletions.ts";

const DAY = 24 * 60 * 60_000;
const SILENT: JobLog = { info: () => undefined, error: () => undefined };

export function runningTimeOf(clock: Pick<Clock, "elapsed">): RunningTime {
  return { total: () => Promise.resolve(clock.elapsed()), doubt: () => Promise.resolve(null) };
}

export function jobsOf<Service extends { readonly clock: Pick<Clock, "elapsed"> }>(service: Service, log = SILENT) {
  return { ...service, runningTime: runningTimeOf(service.clock), log };
}

type Jobs = Parameters<typeof deleteQueuedBlobs>[0] & { readonly clock: { advance(milliseconds: number): void } };

/** What is queued by now goes into quarantine, and a day later out of the store. Returns what was deleted. */
export async function deleteADayLater(jobs: Jobs): Promise<{ readonly deleted: number; readonly failed: number }> {
  const { signal } = new AbortController();
  const now = await deleteQueuedBlobs(jobs, signal);
  jobs.clock.advance(DAY);
  const later = await deleteQueuedBlobs(jobs, signal);
  return { deleted: now.deleted + later.deleted, failed: now.failed + later.failed };
}

export async function* inOrder<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* await Promise.resolve(items);
}

/** The same content as a store that another process opens would see it. */
export function reopened(store: BlobStore): BlobStore {
  return {
    capabilities: store.capabilities,
    put: (key, source) => store.put(key, source),
    putAll: (several) => store.putAll(several),
    open: (key, range) => store.open(key, range),
    delete: (key) => store.delete(key),
    removeAll: (keys) => store.removeAll(keys),
    start: (key) => store.start(key),
    append: (key, offset, source, options) => store.append(key, offset, source, options),
    takeOver: (key, into) => store.takeOver(key, into),
    partialLength: (key) => store.partialLength(key),
    complete: (key) => store.complete(key),
    discard: (key) => store.discard(key),
    readMark: () => store.readMark(),
    replaceMark: (before, mark) => store.replaceMark(before, mark),
    list: () => store.list(),
    ping: () => store.ping(),
    diskRoom: () => store.diskRoom(),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}
