/** Requests to a store: signed, tried again within a budget, counted. */
import { hash } from "node:crypto";
import { Readable } from "node:stream";
import { AwsV4Signer } from "aws4fetch";
import { Agent, type Dispatcher, errors, request } from "undici";
import { distrustOf } from "../../distrust.ts";
import { BlobStoreAwayError, BlobStoreFullError } from "../../../ports/blob-store.ts";
import type { OnStorageFault } from "../../../ports/storage-faults.ts";
import { asPortError, passes, refusalOf, S3Refusal } from "./refusal.ts";
import type { Patience, S3Settings } from "./settings.ts";
import { openTally, type Tally } from "./tally.ts";

export interface S3Request {
  /** As metrics and errors name it. */
  readonly operation: string;
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** The object's name with its prefix; empty: the bucket. */
  readonly name: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: S3Body;
  /** Statuses besides 2xx that are no refusal. */
  readonly expected?: readonly number[];
}

export interface S3Body {
  readonly blocks: readonly Uint8Array[];
  readonly bytes: number;
  /** Lower-case hex: the store refuses other bytes. null: the connection is trusted to bring these. */
  readonly sha256: string | null;
}

export interface S3Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Dispatcher.ResponseData["body"];
  /** How often it was asked before. */
  readonly repeats: number;
}

/** Headers of the store's answer. They are signed, so nobody else asks for others. */
const AS_DOWNLOAD = {
  "response-content-type": "application/octet-stream",
  "response-content-disposition": "attachment",
  "response-cache-control": "no-store",
};
const EMPTY_SHA256 = hash("sha256", "", "hex");
/** In the place of a digest. What else is signed, the length among it, still is. */
const UNSIGNED = "UNSIGNED-PAYLOAD";
/** Answers that are read whole: a page of a listing is the longest. */
const LONGEST_TEXT = 8 * 1024 * 1024;
/** A slower store is taken to be away. */
const SLOWEST_BYTES_PER_SECOND = 128 * 1024;
const CONNECT_WITHIN = 5_000;

export class S3Client {
  readonly tally: Tally = openTally();
  readonly #settings: S3Settings;
  readonly #patience: Patience;
  readonly #onFault: OnStorageFault;
  readonly #agent: Agent;
  readonly #signingKeys = new Map<string, ArrayBuffer>();

  constructor(settings: S3Settings, patience: Patience, onFault: OnStorageFault = () => undefined) {
    this.#settings = settings;
    this.#patience = patience;
    this.#onFault = onFault;
    const connect = { timeout: CONNECT_WITHIN, ...(settings.trust === null ? {} : { ca: settings.trust }) };
    this.#agent = new Agent({ connect, keepAliveTimeout: 4_000, pipelining: 1 });
  }

  /** The answer's body is the caller's to read. Rejects with {@link S3Refusal} or the port's errors. */
  async request(asked: S3Request, patience: Pick<Patience, "attempts" | "within"> = this.#patience): Promise<S3Answer> {
    const began = performance.now();
    for (let repeats = 0; ; repeats += 1) {
      const failure = await this.#requestOnce(asked, repeats);
      if (!(failure instanceof Failed)) return failure;
      const wait = this.#waitAfter(repeats);
      const over = repeats + 1 >= patience.attempts || performance.now() - began + wait > patience.within;
      if (over || !failure.passes) throw failure.error;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  /** The same, with the body as text. A body that breaks off is asked for again. */
  async text(
    asked: S3Request,
    check: (text: string, answer: S3Answer) => void = () => undefined,
  ): Promise<S3Answer & { text: string }> {
    const began = performance.now();
    for (let turn = 0; ; turn += 1) {
      const answer = await this.request(asked);
      try {
        const text = await readText(answer);
        check(text, answer);
        return { ...answer, repeats: answer.repeats + turn, text };
      } catch (error) {
        if (error instanceof S3Refusal && !passes(error)) throw error;
        const wait = this.#waitAfter(turn);
        if (turn + 1 >= this.#patience.attempts || performance.now() - began + wait > this.#patience.within)
          throw awayFor(asked, error);
        await new Promise((resolve) => setTimeout(resolve, wait));
      }
    }
  }

  /** All addresses of objects have it. */
  get origin(): string {
    return new URL(this.#urlOf("", {})).origin;
  }

  /** Signed for so many seconds; the store is not asked. What strangers have written is never shown as a page of the store's origin. */
  async addressOf(name: string, seconds: number): Promise<string> {
    const url = this.#urlOf(name, { "X-Amz-Expires": String(seconds), ...AS_DOWNLOAD });
    const { url: signed } = await new AwsV4Signer({ ...this.#signing(), method: "GET", url, signQuery: true }).sign();
    this.tally.record("address", "done", 0);
    return signed.href;
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #requestOnce(asked: S3Request, repeats: number): Promise<S3Answer | Failed> {
    const began = performance.now();
    const record = (outcome: "done" | "refused" | "failed"): void =>
      this.tally.record(asked.operation, outcome, performance.now() - began);
    try {
      const { statusCode: status, headers, body } = await this.#send(asked);
      if ((status >= 200 && status < 300) || asked.expected?.includes(status) === true) {
        record("done");
        return { status, headers, body, repeats };
      }
      const refusal = refusalOf(asked.operation, status, await readText({ body }).catch(() => ""));
      record(passes(refusal) ? "failed" : "refused");
      const error = asPortError(refusal, this.#settings);
      if (error instanceof BlobStoreFullError) this.#onFault({ kind: "full", cause: refusal });
      return new Failed(error, passes(refusal));
    } catch (error) {
      record("failed");
      return new Failed(awayFor(asked, error), isOfTheWay(error) && distrustOf(error) === null);
    }
  }

  async #send(asked: S3Request): Promise<Dispatcher.ResponseData> {
    const { method, name, query = {}, headers: given = {}, body } = asked;
    const url = this.#urlOf(name, query);
    const headers = { ...given, "x-amz-content-sha256": body === undefined ? EMPTY_SHA256 : (body.sha256 ?? UNSIGNED) };
    const signed = await new AwsV4Signer({ ...this.#signing(), method, url, headers }).sign();
    const bytes = body?.bytes ?? 0;
    const silence = this.#patience.silence;
    const answer = await request(signed.url, {
      method,
      dispatcher: this.#agent,
      headers: {
        ...Object.fromEntries(signed.headers),
        ...(method === "PUT" || method === "POST" ? { "content-length": String(bytes) } : {}),
      },
      body: bytes === 0 || body === undefined ? null : bodyOf(body),
      headersTimeout: silence + (bytes / SLOWEST_BYTES_PER_SECOND) * 1000,
      bodyTimeout: silence,
    });
    // Readers of the body get the error. A body without a reader must not end the process.
    answer.body.on("error", () => undefined);
    return answer;
  }

  #urlOf(name: string, query: Readonly<Record<string, string>>): string {
    const { endpoint, bucket, pathStyle } = this.#settings;
    const url = new URL(endpoint);
    if (!pathStyle) url.hostname = `${bucket}.${url.hostname}`;
    url.pathname = pathStyle ? `/${bucket}/${name}` : `/${name}`;
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
    return url.href;
  }

  #signing() {
    const { accessKeyId, secretAccessKey, sessionToken, region } = this.#settings;
    const token = sessionToken === null ? {} : { sessionToken };
    return { accessKeyId, secretAccessKey, ...token, region, service: "s3", cache: this.#signingKeys };
  }

  /** Whole jitter: many who were refused together do not come back together. */
  #waitAfter(repeats: number): number {
    const { firstWait, longestWait } = this.#patience;
    return Math.random() * Math.min(longestWait, firstWait * 2 ** (repeats + 1));
  }
}

/** Not thrown: a failed attempt is nothing exceptional. */
class Failed {
  readonly error: unknown;
  readonly passes: boolean;
  constructor(error: unknown, passing: boolean) {
    this.error = error;
    this.passes = passing;
  }
}

function bodyOf({ blocks }: S3Body): Uint8Array | Readable {
  const [only] = blocks;
  return blocks.length === 1 && only !== undefined ? only : Readable.from(blocks, { objectMode: false });
}

export async function readText({ body }: Pick<S3Answer, "body">): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > LONGEST_TEXT) throw new Error("The store's answer is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function awayFor({ operation }: Pick<S3Request, "operation">, cause: unknown): BlobStoreAwayError {
  const why = distrustOf(cause);
  const end = why === null ? "" : `: ${why}`;
  return new BlobStoreAwayError(`The blob store does not answer to ${operation}${end}`, { cause });
}

/** Whether it is about a connection, a name or a time-out, and no defect of ours. */
export function isOfTheWay(error: unknown): boolean {
  if (error instanceof errors.UndiciError) return !(error instanceof errors.InvalidArgumentError);
  return error instanceof Error && "code" in error && typeof error.code === "string";
}
