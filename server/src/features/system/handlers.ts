import { createRequire } from "node:module";
import type { api } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import { type GroupHandlers, Reply } from "../../handler.ts";
import { openRunningTime } from "../../jobs/running-time.ts";
import { DatabaseUnavailableError } from "../../ports/database.ts";
import { VERSION } from "../../build.ts";
import { ServiceError } from "../../service-error.ts";
import { isStopped } from "../pairing/store.ts";
import { STORAGE_PARTS, type StoragePart, type StorageState, type StorageWatch } from "../../storage-watch.ts";

const require = createRequire(import.meta.url);

/** What the process says of itself; anything but `ready` is 503. */
export interface Readiness {
  readonly state: "starting" | "ready" | "stopping" | "outdated";
}

export interface SystemParts {
  readonly readiness: Readiness;
  readonly watch: Pick<StorageWatch, "has" | "isLost">;
  readonly metrics: { render(): Promise<{ text: string; contentType: string }> };
}

type Needs = Pick<Deps, "database" | "blobs" | "settings"> & SystemParts;

export const systemHandlers = (deps: Needs): GroupHandlers<typeof api.system> => ({
  async health() {
    if (deps.watch.isLost)
      throw new ServiceError("unavailable", "A flush to the disk failed: only another process can write again");
    return { status: "ok", version: VERSION };
  },

  async ready() {
    const { state } = deps.readiness;
    if (state !== "ready") throw new ServiceError("unavailable", `The server is ${state}`);
    await requireStorage(deps);
    // Uploads and reads go on, so the server is ready.
    const stopped = await isStopped(deps.database);
    const details = [fullOf(deps.watch), await openRunningTime(deps.database).doubt()].filter((each) => each !== null);
    return {
      status: "ready",
      ...(stopped ? { deletions: "stopped" as const } : {}),
      ...(details.length === 0 ? {} : { detail: details.join(". ") }),
    };
  },

  async metrics() {
    const { text, contentType } = await deps.metrics.render();
    return new Reply(single(Buffer.from(text)), { headers: { "Content-Type": contentType } });
  },

  async network() {
    const { networkFile } = deps.settings;
    if (networkFile === null)
      throw new ServiceError(
        "not_found",
        "This service names no network, which shared vaults need: its operator sets SERVICE_CHAIN_FILE",
      );
    // A digest of the bytes is what clients compare: they leave as they are in the file.
    return new Reply(single(networkFile), { headers: { "Content-Type": "application/json" } });
  },

  async openapi() {
    return readOpenApi();
  },
});

const NAMES: Readonly<Record<StoragePart, string>> = { database: "the database", blobs: "the blob store" };
const WORDS: Readonly<Record<StorageState, string>> = {
  stopped: "Stopped",
  damaged: "Damaged",
  away: "Away",
  full: "Full",
};

/**
 * @throws ServiceError that names what is wrong with which part. A damaged PostgreSQL is named by metrics alone: all processes would leave the
 * balance at once, for one page that most requests never meet.
 */
async function requireStorage({ database, blobs, watch }: Needs): Promise<void> {
  const pings = await Promise.allSettled([database.ping(), blobs.ping()]);
  const causes = pings.map((ping) => (ping.status === "rejected" ? (ping.reason as unknown) : undefined));
  const isWrong = (part: StoragePart, state: StorageState): boolean => {
    if (state === "damaged" && database.capabilities.dialect === "postgres") return false;
    return (
      watch.has(part, state) ||
      (state === "away" && causes[STORAGE_PARTS.indexOf(part)] !== undefined && !watch.has(part, "stopped"))
    );
  };
  const problems = (["stopped", "damaged", "away"] as const).flatMap(
    (state) => inWords(state, (part) => isWrong(part, state)) ?? [],
  );
  if (problems.length === 0) return;
  const known = new DatabaseUnavailableError("The log said so when it began", { known: true });
  throw new ServiceError("unavailable", problems.join(". "), {
    cause: causes.find((cause) => cause !== undefined) ?? known,
  });
}

/** Whoever reads or deletes can still be served. The log names the place, which is nothing for strangers. */
function fullOf(watch: SystemParts["watch"]): string | null {
  const full = inWords("full", (part) => watch.has(part, "full"));
  return full === null ? null : `${full}. Writes may get 507; reads and deletions go on, and the log names the place`;
}

/** null: the state is that of no part. */
function inWords(state: StorageState, isSo: (part: StoragePart) => boolean): string | null {
  const parts = STORAGE_PARTS.filter(isSo);
  return parts.length === 0 ? null : `${WORDS[state]}: ${parts.map((part) => NAMES[part]).join(" and ")}`;
}

/** The document that the contract brings along: it has the comments of the sources. Node reads it once. */
function readOpenApi(): Record<string, unknown> {
  try {
    return require("@coffer/contract/openapi.json") as Record<string, unknown>;
  } catch (cause) {
    throw new ServiceError("unavailable", "openapi.json of the contract is missing: run npm run docs", { cause });
  }
}

async function* single(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
