import { ERRORS, type EndpointDefinition, type ErrorCode, type HandlerInput, type Output } from "@coffer/contract";

/** A success that says more than its body. The status must be one that the endpoint declares. */
export class Reply<Body> {
  readonly body: Body;
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    body: Body,
    more: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    this.body = body;
    this.status = more.status;
    this.headers = more.headers ?? {};
  }
}

/** An error answer of the catalogue, thrown by a resolver or a handler. */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string = ERRORS[code].message, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.code = code;
    this.headers = headers;
  }
}

/** Every section of the request, parsed by the contract; a byte body is whole in memory. */
export type Input<E extends EndpointDefinition> = HandlerInput<E, Uint8Array>;

/** Bytes that arrive over time are a stream. */
type Answer<E extends EndpointDefinition> = Output<E, Uint8Array | ReadableStream<Uint8Array>>;

/**
 * The possible answers to a call: the output alone, or with status and headers; nothing if another status has no body
 * (204, 304).
 */
export type Outcome<E extends EndpointDefinition> =
  | Answer<E>
  | Reply<Answer<E>>
  | (E extends { otherStatuses: readonly number[] } ? Reply<undefined> : never);

export type Handler<E extends EndpointDefinition, Context> = (
  input: Input<E>,
  context: Context,
) => Outcome<E> | Promise<Outcome<E>>;

export type GroupHandlers<Group extends Readonly<Record<string, EndpointDefinition>>, Context> = {
  readonly [Name in keyof Group]: Handler<Group[Name], Context>;
};

/** Answers one call as a test says; throw a {@link Failure} for an error of the catalogue. */
export type Resolver<E extends EndpointDefinition> = (
  input: Input<E>,
  request: Request,
) => Outcome<E> | Promise<Outcome<E>>;
