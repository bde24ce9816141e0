/**
 * The embedded payment provider: takes no money and writes down each request. Any holder of the secret can sign its
 * events. For development, for tests, and for running a service whose plans are changed by hand.
 */
import { mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { MAX_CLOCK_SKEW, PLANS } from "@coffer/contract";
import * as z from "zod/mini";
import type { PaymentConfig } from "../../config.ts";
import {
  type PaymentEvent,
  PaymentEventError,
  type PaymentProvider,
  PaymentUnavailableError,
  type SignedEvent,
} from "../../ports/payment-provider.ts";
import { isSigned, signParts } from "./standard-webhooks.ts";

/** `appUrl`: where its checkout pages would be. `requests.jsonl` holds the requests, one JSON document a line. */
export function openTestPayments(config: PaymentConfig, appUrl: string): PaymentProvider {
  const requests = new RequestFile(config.directory);
  return {
    async checkout({ id, accountId, email, plan }) {
      await requests.append(id, { request: "checkout", id, accountId, email, plan });
      return { url: `${appUrl}/billing/test-checkout/${encodeURIComponent(id)}` };
    },
    async changePlan(reference, plan) {
      await requests.append(null, { request: "change-plan", reference, plan });
    },
    parseEvent: (event, now) => parseEvent(config.secret, event, now),
  };
}

/**
 * An event as this provider sends it: the headers and body of `POST /api/billing/events`. `now`: milliseconds since the
 * Unix epoch.
 *
 * @example
 * ```ts
 * const event = signPaymentEvent(secret, { id: "evt_1", kind: "subscription.active", accountId, plan: "pro",
 *   reference: "sub_1", occurredAt: Date.now() }, Date.now());
 * await fetch(`${baseUrl}/api/billing/events`, { method: "POST", body: event.body, headers: {
 *   "content-type": "application/json", "webhook-id": event.id, "webhook-timestamp": event.timestamp,
 *   "webhook-signature": event.signature } });
 * ```
 */
export function signPaymentEvent(secret: string, event: PaymentEvent, now: number): SignedEvent {
  const { id, kind, accountId, plan, reference } = event;
  const occurredAt = new Date(event.occurredAt).toISOString();
  const body = new TextEncoder().encode(JSON.stringify({ kind, accountId, plan, reference, occurredAt }));
  const parts = { id, timestamp: String(Math.floor(now / 1000)), body };
  return { ...parts, signature: signParts(secret, parts) };
}

const KINDS = ["subscription.active", "subscription.ending", "subscription.ended"] as const;

const anyEvent = z.object({ kind: z.string() });
/** More fields may come; they mean nothing here. */
const subscriptionEvent = z.object({
  kind: z.enum(KINDS),
  accountId: z.string().check(z.minLength(1), z.maxLength(64)),
  plan: z.enum(PLANS),
  reference: z.string().check(z.minLength(1), z.maxLength(255)),
  occurredAt: z.iso.datetime({ offset: true }),
});

/** Nothing is parsed that the provider did not sign. */
function parseEvent(secret: string, event: SignedEvent, now: number): PaymentEvent | null {
  if (!isSigned(secret, event, event.signature)) throw new PaymentEventError("signature");
  if (Math.abs(now - Number(event.timestamp) * 1000) > MAX_CLOCK_SKEW) throw new PaymentEventError("clock");
  const value = parseJson(event.body);
  const { kind } = parseBody(anyEvent, value);
  if (!KINDS.some((known) => known === kind)) return null;
  const parsed = parseBody(subscriptionEvent, value);
  const occurredAt = Date.parse(parsed.occurredAt);
  // An event from the future would silence every later one until then.
  if (occurredAt > now + MAX_CLOCK_SKEW) throw new PaymentEventError("clock");
  return { ...parsed, id: event.id, occurredAt };
}

function parseBody<Schema extends z.ZodMiniType>(schema: Schema, value: unknown): z.infer<Schema> {
  const parsed = z.safeParse(schema, value);
  if (!parsed.success) throw new PaymentEventError("body");
  return parsed.data;
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new PaymentEventError("body");
  }
}

const DIRECTORY_MODE = 0o700;
/** The lines name people and what they buy. */
const FILE_MODE = 0o600;

/** Appends one line at a time, each durable before it counts. A repeated id is written once, also after a restart. */
class RequestFile {
  readonly #directory: string;
  #known: Set<string> | null = null;
  #last: Promise<unknown> = Promise.resolve();

  constructor(directory: string) {
    this.#directory = directory;
  }

  append(id: string | null, request: Readonly<Record<string, string>>): Promise<void> {
    const written = this.#last
      .then(() => this.#write(id, request))
      .catch((cause: unknown) => {
        throw new PaymentUnavailableError("The payment provider's file cannot be written", { cause });
      });
    this.#last = written.catch(() => undefined);
    return written;
  }

  async #write(id: string | null, request: Readonly<Record<string, string>>): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: DIRECTORY_MODE });
    const path = join(this.#directory, "requests.jsonl");
    const text = await readFile(path, "utf8").catch(absent);
    this.#known ??= idsIn(text);
    if (id !== null && this.#known.has(id)) return;
    await using file = await open(path, "a", FILE_MODE);
    // A crash may have left half a line; the next one must not become part of it.
    const start = text === "" || text.endsWith("\n") ? "" : "\n";
    await file.appendFile(`${start}${JSON.stringify(request)}\n`);
    await file.sync();
    if (id !== null) this.#known.add(id);
  }
}

function absent(error: unknown): string {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
  throw error;
}

const line = z.object({ id: z.string() });

function idsIn(text: string): Set<string> {
  const ids = new Set<string>();
  for (const each of text.split("\n")) {
    try {
      const parsed = z.safeParse(line, JSON.parse(each));
      if (parsed.success) ids.add(parsed.data.id);
    } catch {
      // Half a line.
    }
  }
  return ids;
}
