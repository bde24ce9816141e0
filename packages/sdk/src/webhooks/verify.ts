/**
 * Verification of deliveries by Standard Webhooks 1.0.0, with the runtime's WebCrypto alone: Node, browsers, workers, Bun and Deno.
 */
import { parseEvent, type ReceivedEvent } from "./received-event.ts";

/** Header fields by name: a `Headers`, or the plain object of a Node server. Names in any case. */
export type HeaderFields = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface Delivered {
  /** The request's body as it came, byte for byte. A parsed body cannot be verified: rendering it again gives other bytes. */
  readonly body: string | Uint8Array | ArrayBuffer;
  readonly headers: HeaderFields;
  /** `whsec_…`, or only its base64. Give both while a rotated secret still counts. */
  readonly secrets: string | readonly string[];
  /** How far the clocks of sender and receiver may differ, in seconds. Default: 300, as in Standard Webhooks. */
  readonly toleranceSeconds?: number | undefined;
  /** Milliseconds since 1970; the system's clock when absent. */
  readonly now?: (() => number) | undefined;
}

/**
 * Why a delivery was refused.
 * - `missing_header`: no `webhook-id`, `webhook-timestamp` or `webhook-signature`
 * - `bad_timestamp`: `webhook-timestamp` is not whole seconds
 * - `too_old`, `too_new`: outside the tolerance: a replay, or a clock that is wrong
 * - `no_match`: no signature is right: altered, not from the service, or made with another secret
 * - `bad_payload`: not the raw body, or signed but not an event
 */
export type VerificationReason =
  | "missing_header"
  | "bad_timestamp"
  | "too_old"
  | "too_new"
  | "no_match"
  | "bad_payload";

/** Answer such a request with 400 and do nothing else. Holds no secret, signature or body. */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";
  readonly reason: VerificationReason;

  constructor(reason: VerificationReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/**
 * Verifies a delivery and gives its event. Events of kinds that this version does not have pass. Deliveries can come
 * twice and out of order: remember `webhook-id`, and go by `event.data.sequence`.
 *
 * @throws WebhookVerificationError with a `reason`, whatever the request holds.
 * @throws TypeError when a secret is unusable: that is a mistake of the receiver, not of the request.
 *
 * @example
 * ```ts
 * async function receive(request: Request): Promise<Response> {
 *   const event = await verifyWebhook({ body: await request.text(), headers: request.headers, secrets: secret });
 *   if (isEvent(event, "file.uploaded")) console.log(event.data.object.id);
 *   return new Response(null, { status: 204 });
 * }
 * ```
 */
export async function verifyWebhook(delivered: Delivered): Promise<ReceivedEvent> {
  const keys = keysOf(delivered.secrets);
  const body = bytesOf(delivered.body);
  const id = requireHeader(delivered.headers, "webhook-id");
  const time = requireHeader(delivered.headers, "webhook-timestamp");
  const signatures = requireHeader(delivered.headers, "webhook-signature");
  refuseUntimely(time, delivered);
  if (!(await isSigned(keys, concat(new TextEncoder().encode(`${id}.${time}.`), body), signatures)))
    throw new WebhookVerificationError("no_match", "No signature matches: check the secret, and that the body is raw");
  const event = parseEvent(textOf(body));
  if (event === null) throw new WebhookVerificationError("bad_payload", "The body is signed but is not an event");
  return event;
}

function keysOf(secrets: string | readonly string[]): Uint8Array<ArrayBuffer>[] {
  const list = typeof secrets === "string" ? [secrets] : secrets;
  if (list.length === 0) throw new TypeError("secrets: give at least one");
  return list.map((secret) => {
    const key = decodeBase64(secret.startsWith("whsec_") ? secret.slice(6) : secret);
    // Without the secret: this text may be logged.
    if (key === null || key.length === 0) throw new TypeError("secrets: expected whsec_ and a key in base64");
    return key;
  });
}

/** RFC 4648 §4; null for anything else. */
function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

/** Views of other realms (a test's DOM, a worker's `vm`) are no instances of this one's classes. */
function bytesOf(body: unknown): Uint8Array {
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  if (Object.prototype.toString.call(body) === "[object ArrayBuffer]") return new Uint8Array(body as ArrayBuffer);
  throw new WebhookVerificationError(
    "bad_payload",
    "Pass the raw body, text or bytes as they came: a parsed body cannot be verified. Turn the framework's JSON parsing off for this route",
  );
}

function requireHeader(headers: HeaderFields, name: string): string {
  const value = headerOf(headers, name);
  if (value === "") throw new WebhookVerificationError("missing_header", `The request has no ${name}`);
  return value;
}

function headerOf(headers: HeaderFields, name: string): string {
  if (isHeaders(headers)) return headers.get(name) ?? "";
  return Object.entries(headers)
    .filter(([field]) => field.toLowerCase() === name)
    .flatMap(([, value]) => value ?? [])
    .join(" ");
}

/** By its methods: frameworks bring a `Headers` of their own. */
function isHeaders(headers: HeaderFields): headers is Headers {
  return typeof headers.get === "function";
}

function refuseUntimely(time: string, { toleranceSeconds = 300, now = Date.now }: Delivered): void {
  if (!/^\d{1,12}$/.test(time))
    throw new WebhookVerificationError("bad_timestamp", "webhook-timestamp is not whole seconds");
  const age = Math.floor(now() / 1000) - Number(time);
  // Not `age > …` alone: a tolerance that is no number must refuse everything, not allow it.
  if (age >= -toleranceSeconds && age <= toleranceSeconds) return;
  const [reason, word] = age > 0 ? (["too_old", "old"] as const) : (["too_new", "new"] as const);
  throw new WebhookVerificationError(reason, `webhook-timestamp is too ${word}: a replay, or a clock that is wrong`);
}

/** Whether one of the `v1` signatures was made with one of the keys. It ignores signatures of other versions. */
async function isSigned(
  keys: readonly Uint8Array<ArrayBuffer>[],
  signed: Uint8Array<ArrayBuffer>,
  signatures: string,
): Promise<boolean> {
  const candidates = signatures.split(" ").filter((signature) => signature.startsWith("v1,"));
  let isSigned = false;
  for (const bytes of keys) {
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["sign"]);
    const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, signed));
    const expected = `v1,${btoa(String.fromCharCode(...mac))}`;
    for (const signature of candidates) isSigned = isEqual(signature, expected) || isSigned;
  }
  return isSigned;
}

/**
 * In a time that does not depend on where the texts differ (CWE-208). It compares texts and not bytes: base64 can
 * write the same bytes in several ways, and only one of them is right.
 */
function isEqual(signature: string, expected: string): boolean {
  let difference = signature.length ^ expected.length;
  for (let index = 0; index < expected.length; index += 1)
    difference |= signature.charCodeAt(index) ^ expected.charCodeAt(index);
  return difference === 0;
}

function concat(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(head.length + tail.length);
  all.set(head);
  all.set(tail, head.length);
  return all;
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return ""; // No text, so no event.
  }
}
