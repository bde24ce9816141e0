/** Contents from one store to another. Their rows say which there are, and what each must be. */
import { createHash } from "node:crypto";
import type { BlobStore } from "../../ports/blob-store.ts";
import type { Queries } from "../../ports/database.ts";

export interface Content {
  readonly blob_key: string;
  readonly size: number;
  /** null: unknown, as of what lies in quarantine. */
  readonly sha256: string | null;
}

const PAGE = 500;
/** Contents on their way at once. */
const LANES = 4;

/** The contents of files and of their kept versions; one that several rows have comes once for each. */
export async function* listContents(queries: Queries): AsyncGenerator<Content> {
  for (const table of ["files", "file_versions"] as const)
    for (let after = ""; ;) {
      const page: Content[] = await queries.all(
        queries.build
          .selectFrom(table)
          .select(["blob_key", "size", "sha256"])
          .where("blob_key", ">", after)
          .orderBy("blob_key")
          .limit(PAGE),
      );
      yield* page;
      if (page.length < PAGE) break;
      after = page.at(-1)?.blob_key ?? "";
    }
}

/** What is to be deleted, and can still be put back. */
export async function* listQuarantined(queries: Queries): AsyncGenerator<Content> {
  for (let after = ""; ;) {
    const query = queries.build
      .selectFrom("blob_quarantine")
      .select(["blob_key", "bytes"])
      .where("deleting", "=", 0)
      .where("blob_key", ">", after)
      .orderBy("blob_key")
      .limit(PAGE);
    const page: { readonly blob_key: string; readonly bytes: number }[] = await queries.all(query);
    for (const { blob_key, bytes } of page) yield { blob_key, size: bytes, sha256: null };
    if (page.length < PAGE) return;
    after = page.at(-1)?.blob_key ?? "";
  }
}

export interface Copied {
  copied: number;
  /** They were there from an earlier, unfinished move. */
  found: number;
  bytes: number;
}

/** Where contents are read. */
export type ContentSource = Pick<BlobStore, "open" | "openDeleted">;

interface CopyOptions {
  readonly told: (content: Content) => void;
  /** Takes contents that are gone, or are not what their rows say; by default one of them ends the copy. */
  readonly lost?: (content: Content) => void;
}

/** @throws LostContentError for a content that is gone, or is not what its row says. It is not in the target then. */
export async function copyContents(
  contents: AsyncIterable<Content>,
  source: ContentSource,
  target: BlobStore,
  { told, lost }: CopyOptions,
): Promise<Copied> {
  const total: Copied = { copied: 0, found: 0, bytes: 0 };
  await each(contents, async (content) => {
    if ((await target.open(content.blob_key, { offset: 0, length: 0 })) !== null) total.found += 1;
    else
      try {
        await copyOne(content, source, target);
        total.copied += 1;
        total.bytes += content.size;
      } catch (error) {
        if (lost === undefined || !(error instanceof LostContentError)) throw error;
        lost(content);
      }
    told(content);
  });
  return total;
}

/** The source does not have what a row names. */
export class LostContentError extends Error {
  override readonly name = "LostContentError";
}

async function copyOne(content: Content, source: ContentSource, target: BlobStore): Promise<void> {
  const { blob_key: key, size, sha256 } = content;
  const bytes = (await source.open(key)) ?? (await source.openDeleted?.(key)) ?? null;
  if (bytes === null) throw new LostContentError(`The content ${key} is not in the old store`);
  // What a copy before this left under the key when it was killed: nobody else writes it.
  await target.discard(key);
  if (sha256 === null) return void (await target.put(key, bytes));
  const receipt = await target.put(key, bytes, { length: size });
  if (receipt.size === size && receipt.sha256 === sha256) return;
  await target.delete(key);
  throw new LostContentError(`The content ${key} of the old store is not what its row says`);
}

/** Reads every byte in the target again. */
export async function verifyContents(
  contents: AsyncIterable<Content>,
  target: BlobStore,
  told: (content: Content) => void,
): Promise<number> {
  let verified = 0;
  await each(contents, async (content) => {
    const digest = createHash("sha256");
    let size = 0;
    for await (const chunk of (await target.open(content.blob_key)) ?? []) {
      digest.update(chunk);
      size += chunk.length;
    }
    if (size !== content.size || digest.digest("hex") !== content.sha256)
      throw new Error(
        `The content ${content.blob_key} is not whole in the new store: delete it there, and run this again`,
      );
    verified += 1;
    told(content);
  });
  return verified;
}

/** Several at once, and each key by one at a time: rows that share a content come one after the other. */
async function each(contents: AsyncIterable<Content>, work: (content: Content) => Promise<void>): Promise<void> {
  const items = contents[Symbol.asyncIterator]();
  const busy = new Map<string, Promise<void>>();
  const lane = async (): Promise<void> => {
    for (let step = await items.next(); step.done !== true; step = await items.next()) {
      const { value } = step;
      const before = busy.get(value.blob_key) ?? Promise.resolve();
      const own = before.then(() => work(value));
      busy.set(value.blob_key, own);
      await own.finally(() => {
        if (busy.get(value.blob_key) === own) busy.delete(value.blob_key);
      });
    }
  };
  try {
    await Promise.all(Array.from({ length: LANES }, lane));
  } finally {
    await items.return?.();
    await Promise.allSettled(busy.values());
  }
}
