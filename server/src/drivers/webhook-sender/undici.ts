/** Sends webhooks over HTTP/1.1 with undici, past the guard of addresses. */
import { createSecureContext } from "node:tls";
import type { WebhookSettings } from "../../config.ts";
import { type Clock, systemClock } from "../../ports/clock.ts";
import type { OutgoingWebhook, WebhookFailure, WebhookOutcome, WebhookSender } from "../../ports/webhook-sender.ts";
import { allowAddresses } from "./addresses.ts";
import { retryAfterOf, textOf } from "./answers.ts";
import { Connections } from "./connections.ts";
import { type Ending, endedWith, exchange, Stop } from "./exchange.ts";
import { readProxy } from "./proxy.ts";
import { dnsResolver, type ResolveAddresses } from "./resolve.ts";
import { readTarget, type Target, type TargetRules } from "./target.ts";

export type SenderSettings = Pick<
  WebhookSettings,
  "allowHttp" | "allowedNetworks" | "proxyUrl" | "timeout" | "connectTimeout"
>;

export interface SenderOptions {
  readonly clock?: Clock;
  /** Instead of DNS, in tests. */
  readonly resolve?: ResolveAddresses;
  /** Certificates in PEM to trust instead of the system's, in tests. */
  readonly trust?: string;
}

/** Addresses whose reading is remembered. */
const TARGETS_KEPT = 1_000;

/** Opens no connection yet. Throws when a network or the proxy of the settings cannot be read. */
export function openWebhookSender(settings: SenderSettings, options: SenderOptions = {}): WebhookSender {
  return new UndiciSender(settings, options);
}

class UndiciSender implements WebhookSender {
  readonly #timeout: number;
  readonly #clock: Clock;
  readonly #rules: TargetRules;
  readonly #connections: Connections;
  readonly #targets = new Map<string, Target | WebhookFailure>();
  /** Attempts under way. */
  readonly #stops = new Set<Stop>();
  #isClosed = false;

  constructor(settings: SenderSettings, { clock = systemClock, resolve = dnsResolver(), trust }: SenderOptions) {
    const isAllowed = allowAddresses(settings.allowedNetworks);
    const secureContext = createSecureContext({ minVersion: "TLSv1.2", ...(trust === undefined ? {} : { ca: trust }) });
    const proxy = settings.proxyUrl === null ? null : readProxy(settings.proxyUrl, secureContext);
    const { connectTimeout } = settings;
    this.#timeout = settings.timeout;
    this.#clock = clock;
    this.#rules = { allowHttp: settings.allowHttp, isAllowed };
    this.#connections = new Connections({ isAllowed, resolve, connectTimeout, secureContext, proxy });
  }

  refusal(url: string): WebhookFailure | null {
    const target = readTarget(url, this.#rules);
    return typeof target === "string" ? target : null;
  }

  async send(webhook: OutgoingWebhook, signal?: AbortSignal): Promise<WebhookOutcome> {
    const began = this.#clock.elapsed();
    const target = this.#targetOf(webhook.url);
    const ending = typeof target === "string" ? endedWith(target) : await this.#sendTo(target, webhook, signal);
    return {
      httpStatus: ending.status,
      failure: failureOf(ending),
      retryAfter: retryAfterOf(ending.status, ending.retryAfter, this.#clock.now()),
      responseBody: textOf(ending.body, ending.whole),
      duration: Math.round(this.#clock.elapsed() - began),
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    for (const stop of this.#stops) stop.stop();
    this.#connections[Symbol.dispose]();
    return Promise.resolve();
  }

  /** The rules never change, so what an address was read as holds. Each connection looks its name up again. */
  #targetOf(url: string): Target | WebhookFailure {
    const known = this.#targets.get(url);
    if (known !== undefined) return known;
    const read = readTarget(url, this.#rules);
    if (this.#targets.size >= TARGETS_KEPT) this.#targets.clear();
    this.#targets.set(url, read);
    return read;
  }

  /** Within the time for one attempt, both tries together. */
  async #sendTo(target: Target, webhook: OutgoingWebhook, signal?: AbortSignal): Promise<Ending> {
    const stop = new Stop();
    const end = (): void => stop.stop();
    const timer = setTimeout(end, this.#timeout);
    this.#stops.add(stop);
    signal?.addEventListener("abort", end, { once: true });
    if (this.#isClosed || signal?.aborted === true) end();
    try {
      const ending = await this.#exchange(target, webhook, stop, { fresh: false });
      // RFC 9112 §9.3.1 lets a client repeat a POST when that does no harm: receivers recognise it by the
      // `webhook-id`.
      return ending.stale ? await this.#exchange(target, webhook, stop, { fresh: true }) : ending;
    } finally {
      clearTimeout(timer);
      this.#stops.delete(stop);
      signal?.removeEventListener("abort", end);
    }
  }

  async #exchange(
    target: Target,
    { headers, body }: OutgoingWebhook,
    stop: Stop,
    which: { readonly fresh: boolean },
  ): Promise<Ending> {
    const connection = this.#connections.acquire(target, which);
    const ending = await exchange(connection, { path: target.path, headers, body }, stop);
    if (ending.whole) this.#connections.release(connection);
    return ending;
  }
}

/**
 * A status counts for more than what happened behind it: with a 2xx the receiver has said that it took the event (RFC 9110 §15.3,
 * Standard Webhooks). Its body is only kept to be shown.
 */
function failureOf({ status, failure }: Ending): WebhookFailure | null {
  if (status === 0) return failure;
  const isSuccess = status >= 200 && status <= 299;
  return isSuccess ? null : `HTTP ${status}`;
}
