/** Before anything is deleted in the store: whether it is this database that may. Says in the log why not, once for each reason. */
import {
  type Doubt,
  explainDoubt,
  findDoubt,
  type Paired,
  PairingError,
  renewMark,
} from "../features/pairing/pairing.ts";
import { BlobStoreAwayError } from "../ports/blob-store.ts";
import type { JobDeps } from "./job-deps.ts";

export interface DeletionGate {
  /** Asked before each pass that deletes contents. Also false while the store is away, which others say. */
  mayDelete(): Promise<boolean>;
  /** Tells rows and store that this database is at work. */
  renew(holding: AbortSignal): Promise<void>;
}

interface Problem {
  readonly reason: Doubt | "not-paired";
  readonly message: string;
}

type Needs = Pick<JobDeps, "database" | "blobs" | "clock" | "random" | "log">;

export function openDeletionGate({ log, ...deps }: Needs, places: Paired["places"]): DeletionGate {
  const pairing = { ...deps, places };
  let told: string | null = null;
  const isOpen = async (ask: () => Promise<Doubt | null>): Promise<boolean> => {
    const problem = await problemOf(ask);
    if (problem === "away") return false;
    if (problem !== null && problem.message !== told)
      log.error({ job: "store's mark", reason: problem.reason }, problem.message);
    told = problem?.message ?? null;
    return problem === null;
  };
  const problemOf = async (ask: () => Promise<Doubt | null>): Promise<Problem | "away" | null> => {
    try {
      const doubt = await ask();
      return doubt === null ? null : { reason: doubt, message: explainDoubt(doubt, places) };
    } catch (error) {
      if (error instanceof BlobStoreAwayError) return "away";
      // The store was away when the server started, and is another than it should be.
      if (error instanceof PairingError) return { reason: "not-paired", message: error.message };
      throw error;
    }
  };
  return {
    mayDelete: () => isOpen(() => findDoubt(pairing)),
    async renew(holding) {
      await isOpen(() => renewMark(pairing, holding));
    },
  };
}
