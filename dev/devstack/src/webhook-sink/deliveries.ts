/** What arrived at the sink: each request with the verdict on it, the last 500 of them. */
import type { IncomingHttpHeaders } from "node:http";
import { eventSchema, isEventKind, type WebhookEvent } from "@coffer/contract";
import { verifyWebhook, WebhookVerificationError } from "@coffer/sdk/webhooks";

/** Older ones are let go. */
export const MAX_KEPT = 500;
/** The most bytes of each body; a payload has at most 20 kB. */
const MAX_TEXT_BYTES = 32 * 1024;

/** One request to the sink. All of it but `number`, `at` and `problem` is data from outside. */
export interface SunkDelivery {
  /** 1 for the first since the sink began. */
  readonly number: number;
  /** ISO 8601. */
  readonly at: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The first 32 KiB. */
  readonly body: string;
  readonly bytes: number;
  /** null: signed with a secret that the sink trusts, and an event of the contract. Else what is wrong, in words. */
  readonly problem: string | null;
  /** `webhook-id`; empty when there is none. */
  readonly messageId: string;
  /** How many with this `webhook-id` are kept, this one included: above 1 it was sent again. */
  readonly copy: number;
  /** Empty when the body does not say. */
  readonly kind: string;
  readonly sequence: number | null;
  /** What the sink answered: a status, or `hang`. */
  readonly answered: string;
}

export interface Arrival {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** As it came; null when it was too large to be read. */
  readonly body: Buffer | null;
}

/** The verdict on one request, before the answer to it. */
export interface Verdict {
  readonly problem: string | null;
  /** null unless the verdict is good. */
  readonly event: WebhookEvent | null;
  readonly kind: string;
  readonly sequence: number | null;
}

/** Judges an arrival by its raw bytes, as a receiver does with the SDK, and holds the event to the contract. */
export async function judge({ headers, body }: Arrival, secrets: readonly string[]): Promise<Verdict> {
  if (body === null) return { ...NO_CLAIMS, problem: "the body is too large", event: null };
  const claims = claimsOf(body);
  const refused = (problem: string): Verdict => ({ ...claims, problem, event: null });
  if (secrets.length === 0) return refused("the sink has no secret yet");
  try {
    const event = await verifyWebhook({ body, headers, secrets });
    const schema = isEventKind(event.type) ? eventSchema(event.type) : null;
    const parsed = schema?.safeParse(event);
    return parsed?.success === true
      ? { ...claims, problem: null, event: parsed.data as WebhookEvent }
      : refused("signed, but not an event of the contract");
  } catch (error) {
    if (error instanceof WebhookVerificationError) return refused(`${error.reason}: ${error.message}`);
    throw error;
  }
}

const NO_CLAIMS = { kind: "", sequence: null };

/** The body's own words, whether verified or not. */
function claimsOf(body: Buffer): Pick<Verdict, "kind" | "sequence"> {
  const { type, data } = Object(parseJson(body.toString())) as { type?: unknown; data?: unknown };
  const { sequence } = Object(data) as { sequence?: unknown };
  return {
    kind: typeof type === "string" ? type.slice(0, 100) : "",
    sequence: typeof sequence === "number" ? sequence : null,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function textHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]),
  );
}

type Listener = (delivery: SunkDelivery, event: WebhookEvent | null) => void;

/** The last {@link MAX_KEPT}, and those who want to hear of the next. */
export class Deliveries {
  readonly #kept: SunkDelivery[] = [];
  readonly #listeners = new Set<Listener>();
  #count = 0;

  /** Oldest first. */
  get all(): readonly SunkDelivery[] {
    return this.#kept;
  }

  add(arrival: Arrival, { event, ...verdict }: Verdict, answered: string): void {
    const { method, path, headers, body } = arrival;
    const messageId = String(headers["webhook-id"] ?? "");
    const copies = this.#kept.filter((other) => messageId !== "" && other.messageId === messageId).length;
    const delivery: SunkDelivery = {
      number: (this.#count += 1),
      at: new Date().toISOString(),
      method,
      path,
      headers: textHeaders(headers),
      body: body?.subarray(0, MAX_TEXT_BYTES).toString() ?? "",
      bytes: body?.length ?? 0,
      ...verdict,
      messageId,
      copy: copies + 1,
      answered,
    };
    this.#kept.push(delivery);
    if (this.#kept.length > MAX_KEPT) this.#kept.shift();
    for (const listener of this.#listeners) listener(delivery, event);
  }

  /** Hears of every one from now on, until the returned function is called. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
