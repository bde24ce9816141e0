/** A range of an object as it comes from the store. A connection that breaks off is taken up where it was. */
import { BlobStoreAwayError } from "../../../ports/blob-store.ts";
import { isOfTheWay, readText, type S3Answer } from "./client.ts";
import { header, type S3Objects } from "./objects.ts";

/** Broken connections without a byte in between, until the read is given up. */
const BREAKS = 4;
/** An iteration that has not begun by then is taken to be none: it holds no connection. Milliseconds. */
const UNREAD_FOR = 5_000;

/** null: there is no such object. @param version one that was replaced or deleted, in a bucket that keeps them. */
export async function readObject(
  objects: S3Objects,
  name: string,
  range: { readonly offset: number; readonly length: number } | undefined,
  version?: string,
): Promise<AsyncIterable<Uint8Array> | null> {
  const offset = range?.offset ?? 0;
  if (range?.length === 0) return (await objects.find(name)) === null ? null : nothing();
  const answer = await objects.get(name, offset, range?.length ?? null, null, { version });
  if (answer === null) return null;
  if (answer.status === 416) {
    await readText(answer);
    return nothing();
  }
  const place = placeOf(answer, offset);
  return new ObjectReader(objects, { name, version, ...place, etag: header(answer, "etag") }, answer);
}

interface Wanted {
  readonly name: string;
  readonly version: string | undefined;
  readonly offset: number;
  readonly end: number;
  readonly etag: string;
}

/** A store that ignores ranges must not pass for one that has answered. */
function placeOf(answer: S3Answer, offset: number): { readonly offset: number; readonly end: number } {
  const length = Number(header(answer, "content-length"));
  const isAsked =
    answer.status === 206 ? header(answer, "content-range").startsWith(`bytes ${String(offset)}-`) : offset === 0;
  if (!isAsked || !Number.isSafeInteger(length)) {
    answer.body.destroy();
    throw new BlobStoreAwayError("The blob store answers another range than was asked for");
  }
  return { offset, end: offset + length };
}

class ObjectReader implements AsyncIterable<Uint8Array> {
  readonly #objects: S3Objects;
  readonly #wanted: Wanted;
  #first: S3Answer | null;
  readonly #unread: NodeJS.Timeout;

  constructor(objects: S3Objects, wanted: Wanted, first: S3Answer) {
    this.#objects = objects;
    this.#wanted = wanted;
    this.#first = first;
    this.#unread = setTimeout(() => this.#takeFirst()?.body.destroy(), UNREAD_FOR).unref();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    let { offset } = this.#wanted;
    let breaks = 0;
    let answer = this.#takeFirst();
    while (offset < this.#wanted.end) {
      try {
        answer ??= await this.#goOn(offset);
        for await (const chunk of answer.body as AsyncIterable<Buffer>) {
          offset += chunk.length;
          breaks = 0;
          yield chunk;
        }
        if (offset < this.#wanted.end) throw new BlobStoreAwayError("The blob store's answer was cut off");
      } catch (error) {
        breaks += 1;
        if (breaks > BREAKS || !(error instanceof BlobStoreAwayError || isOfTheWay(error))) throw error;
      }
      answer = null;
    }
  }

  #takeFirst(): S3Answer | null {
    clearTimeout(this.#unread);
    const answer = this.#first;
    this.#first = null;
    return answer;
  }

  async #goOn(offset: number): Promise<S3Answer> {
    const { name, version, end, etag } = this.#wanted;
    const answer = await this.#objects.get(name, offset, end - offset, etag === "" ? null : etag, { version });
    if (answer?.status !== 206) {
      answer?.body.destroy();
      throw new Error(`The object ${name} is gone while it was read`);
    }
    placeOf(answer, offset);
    return answer;
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
