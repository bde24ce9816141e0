/** What the run's Ceph holds of one server, as its operator would see it. */
import { PATIENCE } from "@coffer/server/drivers/blobs/s3/settings";
import { S3Client } from "@coffer/server/drivers/blobs/s3/client";
import { S3Objects } from "@coffer/server/drivers/blobs/s3/objects";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { settingsOf } from "./s3-settings.ts";
import { cephStore, type CephStore } from "./store.ts";

/** A data directory whose blobs are in Ceph names their prefix in a file. */
const fileIn = (directory: string): string => join(directory, "s3-prefix");

/** false: the blobs are in the directory itself. */
export const isInCeph = (directory: string): boolean => existsSync(fileIn(directory));

/** The directory's place; a new one if it has none yet. */
export async function cephStoreIn(directory: string): Promise<CephStore> {
  if (isInCeph(directory)) return cephStore(readFileSync(fileIn(directory), "utf8"));
  const store = await cephStore();
  writeFileSync(fileIn(directory), store.prefix);
  return store;
}

/** The bytes of every object. */
export async function readObjects(directory: string): Promise<Buffer[]> {
  return within(directory, async (objects, prefix) => {
    const contents: Buffer[] = [];
    for await (const { name } of objects.list(prefix)) {
      const answer = await objects.get(name, 0, null, null);
      const chunks: Uint8Array[] = [];
      for await (const chunk of answer?.body ?? []) chunks.push(chunk as Uint8Array);
      contents.push(Buffer.concat(chunks));
    }
    return contents;
  });
}

/** The sum of all sizes, the parts of uploads under way included: a store keeps those until somebody ends the upload. */
export async function objectBytes(directory: string): Promise<number> {
  return within(directory, async (objects, prefix) => {
    let sum = 0;
    for await (const { size } of objects.list(prefix)) sum += size;
    for await (const { name, uploadId } of objects.listUploads(prefix))
      for (const { size } of await objects.listParts(name, uploadId).catch(() => [])) sum += size;
    return sum;
  });
}

async function within<Result>(
  directory: string,
  work: (objects: S3Objects, prefix: string) => Promise<Result>,
): Promise<Result> {
  const settings = settingsOf(await cephStoreIn(directory));
  const client = new S3Client(settings, PATIENCE);
  try {
    return await work(new S3Objects(client, settings), settings.prefix);
  } finally {
    await client.close();
  }
}
