/** What a service does about leftovers, done at once where it would wait for hours. */
import { parseConfig } from "@coffer/server";
import { deleteQueuedBlobs } from "@coffer/server/jobs/blob-deletions";
import { expireUploads } from "@coffer/server/jobs/expiry";
import { sweepOrphans } from "@coffer/server/jobs/sweep";
import { openStorage } from "@coffer/server/storage";
import type { Held } from "./inspect.ts";

/** Longer than uploads live, than the sweep leaves anything alone, and than anything lies in quarantine. Milliseconds. */
const AHEAD = 60 * 24 * 3_600_000;

/** What the store holds once uploads have ended and it is swept, by a clock for which all of it is old. No server may be writing. */
export async function sweep(variables: Readonly<Record<string, string>>): Promise<Held & { readonly orphans: number }> {
  const config = parseConfig(variables);
  await using storage = await openStorage(config);
  const faults: unknown[] = [];
  const log = { info: () => undefined, error: (...fault: unknown[]) => void faults.push(fault) };
  const clock = { now: () => Date.now() + AHEAD, elapsed: () => performance.now() };
  let total = 0;
  const runningTime = { total: () => Promise.resolve(total), doubt: () => Promise.resolve(null) };
  const { database } = storage;
  const deps = { database, blobs: storage.blobs, settings: config.settings, clock, log, runningTime };
  const { signal } = new AbortController();
  await expireUploads(deps, signal);
  const { orphans, partials: cut, dangling } = await sweepOrphans(deps, { as: "confirmed" });
  await deleteQueuedBlobs(deps, signal);
  total = AHEAD;
  await deleteQueuedBlobs(deps, signal);
  // Parts of an upload that have no row of their own are known while the queue names it. The next sweep takes them.
  await sweepOrphans(deps, { as: "confirmed" });
  if (faults.length + dangling > 0)
    throw new Error(`the sweep met ${String(dangling)} files without content`, { cause: faults });
  const blobs = new Map<string, number>();
  const partials: string[] = [];
  for await (const { key, size, complete } of storage.blobs.list())
    if (complete) blobs.set(key, size);
    else partials.push(key);
  return { blobs, partials, temporaries: [], orphans: orphans + cut };
}
