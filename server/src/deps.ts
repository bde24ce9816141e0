/** What the handlers are made of. A handler names the slice it needs: `Pick<Deps, "database" | "clock">`. */
import type { Settings } from "./config.ts";
import type { BlobStore } from "./ports/blob-store.ts";
import type { Clock } from "./ports/clock.ts";
import type { Database } from "./ports/database.ts";
import type { Random } from "./ports/random.ts";

export interface Deps {
  readonly database: Database;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly settings: Settings;
}
