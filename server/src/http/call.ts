/** One request on its way through: what the log and the metrics say of it, and what its handler may ask. */
import type { EndpointDefinition } from "@coffer/contract";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Quota } from "../limits/limits.ts";
import type { Queries } from "../ports/database.ts";
import type { Authenticator } from "./authentication.ts";
import { type CreationContext, type Principal, Recorded, Reply, type RequestOrigin } from "../handler.ts";
import { NO_CROSS_ORIGIN_HEADERS } from "./cross-origin.ts";
import { originOf, serviceOriginOf } from "./origin.ts";
import type { Reservation } from "./idempotency.ts";
import { renderAnswer } from "./output.ts";
import { requireLevel } from "./permissions.ts";

declare module "fastify" {
  interface FastifyRequest {
    call: Call;
  }
}

/** Filled in as the request goes on; the log line is made of it and of nothing else. */
export class Call {
  readonly startedAt: number;
  endpointId: string | null = null;
  principal: Principal | null = null;
  /** The limit that the request has met: its answer names it. */
  quota: Quota | null = null;
  errorCode: string | null = null;
  /**
   * For the browser of a page of another origin, and of an operation that will go; {@link NO_CROSS_ORIGIN_HEADERS} where
   * there is nothing to say.
   */
  moreHeaders = NO_CROSS_ORIGIN_HEADERS;
  /** What else than the credential may end the request's streams. */
  readonly watches: (() => Promise<void>)[] = [];
  bytesIn = 0;
  bytesOut = 0;
  constructor(startedAt: number) {
    this.startedAt = startedAt;
  }

  /** Rejects when one of the {@link watches} does. */
  async recheckWatches(): Promise<void> {
    for (const check of this.watches) await check();
  }
}

/** What a handler sees of its request. `signal` is made on first use: most handlers never look. */
export class CallContext implements CreationContext<Principal | null> {
  readonly principal: Principal | null;
  readonly requestId: string;
  readonly #request: FastifyRequest;
  readonly #publicUrl: string | null;
  readonly #endpoint: EndpointDefinition;
  readonly #reply: FastifyReply;
  readonly #authenticator: Authenticator;
  readonly #stopping: AbortSignal;
  readonly #reservation: Reservation | null;
  #signal: AbortSignal | null = null;

  constructor(
    endpoint: EndpointDefinition,
    request: FastifyRequest,
    reply: FastifyReply,
    surroundings: {
      authenticator: Authenticator;
      stopping: AbortSignal;
      reservation: Reservation | null;
      publicUrl: string | null;
    },
  ) {
    this.#request = request;
    this.#publicUrl = surroundings.publicUrl;
    this.principal = request.call.principal;
    this.requestId = request.id;
    this.#endpoint = endpoint;
    this.#reply = reply;
    this.#authenticator = surroundings.authenticator;
    this.#stopping = surroundings.stopping;
    this.#reservation = surroundings.reservation;
  }

  get origin(): RequestOrigin {
    return this.principal?.origin ?? originOf(this.#request);
  }

  get serviceOrigin(): string | null {
    return serviceOriginOf(this.#publicUrl, this.#request.headers.host);
  }

  get signal(): AbortSignal {
    this.#signal ??= AbortSignal.any([this.#stopping, abortOnClose(this.#reply)]);
    return this.#signal;
  }

  async recheck(): Promise<void> {
    await this.recheckCredential();
    await this.#request.call.recheckWatches();
  }

  /** {@link recheck} without what was added to it: transfers of one credential share its answer. */
  async recheckCredential(): Promise<void> {
    if (this.principal === null) return;
    requireLevel(this.#endpoint, await this.#authenticator.recheck(this.principal));
  }

  watch(check: () => Promise<void>): void {
    this.#request.call.watches.push(check);
  }

  async record<Body>(transaction: Queries, answer: Body | Reply<Body>): Promise<Recorded<Body>> {
    const reply = answer instanceof Reply ? answer : new Reply(answer);
    if (this.#reservation !== null) {
      await this.#reservation.complete(transaction, renderAnswer(this.#endpoint, reply));
    }
    return new Recorded(reply);
  }
}

/** Aborts when the connection closes before the answer is complete. */
function abortOnClose(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const { raw } = reply;
  if (raw.destroyed && !raw.writableFinished) controller.abort();
  raw.once("close", () => {
    if (!raw.writableFinished) controller.abort();
  });
  return controller.signal;
}
