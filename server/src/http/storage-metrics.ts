/** Prometheus metrics of both parts of the storage: whether they answer, what is wrong with them, and the room on their disks. Asked at each scrape. */
import { Gauge, type Registry } from "prom-client";
import type { Deps } from "../deps.ts";
import type { SystemParts } from "../features/system/handlers.ts";
import type { DiskRoom } from "../ports/disk-room.ts";
import { STORAGE_PARTS, type StoragePart } from "../storage-watch.ts";

type Needs = Pick<Deps, "database" | "blobs"> & Pick<SystemParts, "watch">;

export function registerStorage(registry: Registry, { database, blobs, watch }: Needs): void {
  const parts = { database, blobs };
  byPart(registry, "coffer_storage_up", "Whether the database and the blob store answer and take writes", (part) => {
    const isOut = watch.has(part, "stopped") || watch.has(part, "away");
    return isOut ? 0 : answers(parts[part]);
  });
  const damaged = "Whether the database or the blob store was found damaged; the log names file and query";
  byPart(registry, "coffer_storage_damaged", damaged, (part) => (watch.has(part, "damaged") ? 1 : 0));
  const full = "Whether writes are refused for want of room, beside the reserve; the log names the place";
  byPart(registry, "coffer_storage_full", full, (part) => (watch.has(part, "full") ? 1 : 0));
  const disks: readonly (readonly [keyof DiskRoom, string, string])[] = [
    ["freeBytes", "free", "Bytes that the server may still write to the disk of the part, if that is on this machine"],
    ["sizeBytes", "size", "Bytes of that disk that are used, and those that the server may still write"],
    ["reserveBytes", "reserve", "Bytes of that disk that file contents leave free (SERVICE_DISK_RESERVE_BYTES)"],
  ];
  for (const [field, name, help] of disks)
    byPart(registry, `coffer_disk_${name}_bytes`, help, async (part) => {
      // `coffer_storage_up` says that the directory is gone.
      const room = await parts[part].diskRoom().catch(() => null);
      return room?.[field] ?? null;
    });
}

/** Parts of which there is nothing to say are left out. */
function byPart(
  registry: Registry,
  name: string,
  help: string,
  read: (part: StoragePart) => number | null | Promise<number | null>,
): void {
  const gauge: Gauge<"part"> = new Gauge({
    name,
    help,
    labelNames: ["part"],
    registers: [registry],
    async collect() {
      const values = await Promise.all(STORAGE_PARTS.map(async (part) => [part, await read(part)] as const));
      gauge.reset();
      for (const [part, value] of values) if (value !== null) gauge.set({ part }, value);
    },
  });
}

async function answers(target: { ping(): Promise<void> }): Promise<0 | 1> {
  try {
    await target.ping();
    return 1;
  } catch {
    // Why it does not answer is in the log of the requests that fail.
    return 0;
  }
}
