/** Whether the store refuses to write over an object when asked to (`If-None-Match: *`): tried once. */
import { hash, randomUUID } from "node:crypto";
import type { Names } from "./names.ts";
import type { S3Objects } from "./objects.ts";
import { S3Refusal } from "./refusal.ts";

export async function tryConditionalPut(objects: S3Objects, names: Names): Promise<boolean> {
  const name = names.trials + randomUUID();
  const body = { blocks: [], bytes: 0, sha256: hash("sha256", "", "hex") };
  const put = (mark: string): Promise<boolean> => objects.put(name, body, { mark, onlyNew: true });
  try {
    if (!(await put("first"))) return false;
    return !(await put("second"));
  } catch (error) {
    // Stores that do not know the header say so in several ways.
    if (error instanceof S3Refusal && (error.status === 501 || error.status === 400)) return false;
    throw error;
  } finally {
    await objects.delete(name).catch(() => undefined);
  }
}
