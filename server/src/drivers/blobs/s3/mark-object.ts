/** The store's mark: one object, written on the condition that it is still the one that was read. */
import { randomUUID } from "node:crypto";
import { readText } from "./client.ts";
import { bodyOfText, header, type S3Objects } from "./objects.ts";
import { S3Refusal } from "./refusal.ts";

interface Found {
  readonly text: string;
  readonly etag: string;
}

/** A server that starts asks for it, and starts also when the store is away. */
const READ = { attempts: 3, within: 2_000 } as const;

/** null: there is none. */
export async function readMarkObject(objects: S3Objects, name: string): Promise<Found | null> {
  const answer = await objects.get(name, 0, null, null, { patience: READ });
  if (answer === null) return null;
  return { text: await readText(answer), etag: header(answer, "etag") };
}

/** @param isConditional false: the store knows no conditions, so what is there is compared before. */
export async function replaceMarkObject(
  objects: S3Objects,
  name: string,
  {
    before,
    mark,
    isConditional,
  }: { readonly before: string | null; readonly mark: string; readonly isConditional: boolean },
): Promise<boolean> {
  const found = await readMarkObject(objects, name);
  if ((found?.text ?? null) !== before) return false;
  const own = randomUUID();
  const write = (condition: { readonly onlyNew: boolean; readonly replaced?: string }): Promise<boolean> =>
    objects.put(name, bodyOfText(mark), { mark: own, ...condition });
  if (!isConditional) return write({ onlyNew: false });
  if (found === null) return write({ onlyNew: true });
  try {
    if (await write({ onlyNew: false, replaced: found.etag })) return true;
  } catch (error) {
    // Some stores know the condition for new objects alone.
    if (!(error instanceof S3Refusal) || (error.status !== 501 && error.status !== 400)) throw error;
    return write({ onlyNew: false });
  }
  // Ceph compares what is between the quotes with all that comes. If it is another object by now, this fails as well.
  return write({ onlyNew: false, replaced: found.etag.replaceAll('"', "") });
}
