import type { Deps } from "../deps.ts";
import type { JobLog } from "../job-log.ts";
import type { RunningTime } from "../ports/running-time.ts";

export type JobDeps = Pick<Deps, "database" | "blobs" | "chain" | "clock" | "random" | "mailer" | "settings"> & {
  readonly log: JobLog;
  readonly runningTime: RunningTime;
};
