/** The shape of a handler, derived from the contract: a missing or mistyped handler does not compile. */
import type { AccessLevel, Api, Budgets, EndpointDefinition, HandlerInput, Output, Scope } from "@coffer/contract";
import type { Queries } from "./ports/database.ts";

/** Where a request comes from, as the service sees it. Data from outside: for records and limits, never for rights. */
export interface RequestOrigin {
  readonly requestId: string;
  /** The client's network address, past trusted proxies only. */
  readonly address: string;
  readonly userAgent: string | null;
}

/** What a key may use, counted for it and for what it was rotated to (decision 0057). */
export interface Budget {
  readonly id: string;
  readonly limits: Budgets;
}

/** The caller. Never holds the credential itself. */
export interface Principal {
  readonly kind: "api-key" | "development" | "session";
  readonly accountId: string;
  /** The API key's id, null for other credentials. */
  readonly keyId: string | null;
  /** The web session's id, null for other credentials. */
  readonly sessionId: string | null;
  readonly name: string | null;
  readonly accessLevel: AccessLevel;
  /** null: everything the access level allows. */
  readonly scopes: ReadonlySet<Scope> | null;
  /** null: every vault of the account. */
  readonly vaultIds: ReadonlySet<string> | null;
  readonly chainAddress: string | null;
  readonly expiresAt: number | null;
  /** The key's own, then those of the keys that made it. Empty: it has none. */
  readonly budgets: readonly Budget[];
  readonly origin: RequestOrigin;
}

/**
 * A request body of raw bytes, as it arrives. Reading it to its end verifies the declared length. A chunk is valid until
 * the next one is asked for: who keeps it makes a copy.
 */
export interface IncomingBytes {
  readonly stream: AsyncIterable<Uint8Array>;
  /** From Content-Length; null when the sender did not say. */
  readonly length: number | null;
  readonly contentType: string | null;
}

export interface RequestContext<Caller extends Principal | null> {
  readonly principal: Caller;
  readonly requestId: string;
  readonly origin: RequestOrigin;
  /**
   * The origin at which clients reach this service; signatures of chain addresses must name it. null: the operator has
   * not set it (SERVICE_PUBLIC_URL) and the request did not come over loopback.
   */
  readonly serviceOrigin: string | null;
  /** Aborts when the client goes away or the server's shutdown grace is over. */
  readonly signal: AbortSignal;
  /**
   * Rejects with `invalid_credential` when the credential has been revoked or has expired since. Rejects with
   * `owner_only` when it is an agent's by now and the endpoint an owner's. Called before a row is written for a long
   * upload, and every 5 s or 64 MiB on a stream (decisions §4, "in-flight on revoke"). Also runs the checks added with
   * {@link RequestContext.watch}.
   */
  recheck(): Promise<void>;
  /** Has every later recheck ask this too, those of the request's streams included: what it rejects with ends them. */
  watch(check: () => Promise<void>): void;
}

/**
 * The context of a call that takes an Idempotency-Key. Its handler ends its transaction with `record`. So the effect and the answer to
 * a repeat with the same Idempotency-Key commit together or not at all
 * (docs/decisions/0007-idempotency-commits-with-the-effect.md).
 */
export interface CreationContext<Caller extends Principal | null> extends RequestContext<Caller> {
  /**
   * Writes the answer beside the effect, as the last statement of the effect's transaction, and wraps it for return.
   * Rejects when another run of the same key has taken over: let it pass, the transaction must roll back. An answer
   * with a secret is not kept: give it a `location` header, which a repeat gets.
   */
  record<Body>(transaction: Queries, answer: Body | Reply<Body>): Promise<Recorded<Body>>;
}

/** An answer whose record lies in the effect's transaction; only {@link CreationContext.record} makes one. */
export class Recorded<Body> {
  readonly #reply: Reply<Body>;
  constructor(reply: Reply<Body>) {
    this.#reply = reply;
  }
  get reply(): Reply<Body> {
    return this.#reply;
  }
  /** The same answer with more headers for this one caller; a repeat gets it without them. */
  withHeaders(headers: Readonly<Record<string, string>>): Recorded<Body> {
    const { body, status } = this.#reply;
    const all = { ...this.#reply.headers, ...headers };
    return new Recorded(new Reply(body, status === undefined ? { headers: all } : { status, headers: all }));
  }
}

/** A success that says more than its body. `status` must be one the endpoint declares. */
export class Reply<Body> {
  readonly body: Body;
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  constructor(body: Body, more: { status?: number; headers?: Readonly<Record<string, string>> } = {}) {
    this.body = body;
    this.status = more.status;
    this.headers = more.headers ?? {};
  }
}

/** A response of raw bytes; chunks follow the lifetime rule of {@link ../ports/blob-store.ts}'s `open`. */
export type OutgoingBytes = AsyncIterable<Uint8Array>;

type CallerOf<E extends EndpointDefinition> = E["auth"] extends "none" ? null : Principal;
type Answer<E extends EndpointDefinition> = Output<E, OutgoingBytes>;

/** `takesIdempotencyKey` of the contract, for types. */
type TakesIdempotencyKey =
  | { readonly method: "POST"; readonly effect: "create"; readonly auth: "credential" }
  | { readonly keyed: true };

type AnswerOf<E extends EndpointDefinition> = E extends TakesIdempotencyKey
  ? Recorded<Answer<E>> | (E extends { otherStatuses: readonly number[] } ? Recorded<undefined> : never)
  : Answer<E> | Reply<Answer<E>> | (E extends { otherStatuses: readonly number[] } ? Reply<undefined> : never);

type ContextOf<E extends EndpointDefinition> = E extends TakesIdempotencyKey
  ? CreationContext<CallerOf<E>>
  : RequestContext<CallerOf<E>>;

export type Handler<E extends EndpointDefinition> = (
  input: HandlerInput<E, IncomingBytes>,
  context: ContextOf<E>,
) => Promise<AnswerOf<E>>;

export type GroupHandlers<Group extends Readonly<Record<string, EndpointDefinition>>> = {
  readonly [Name in keyof Group]: Handler<Group[Name]>;
};

export type Handlers<Definition extends Api> = {
  readonly [Group in keyof Definition]: GroupHandlers<Definition[Group]>;
};
