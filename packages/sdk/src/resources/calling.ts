/** What every resource is made of: a call of an endpoint, its output alone. */
import type { CallInput, EndpointDefinition } from "@coffer/contract";
import type { ByteBody } from "../byte-body.ts";
import { callOn, type CallOptions, type CallOutput } from "../call.ts";
import type { Connection } from "../options.ts";

export type Query<E extends EndpointDefinition> =
  CallInput<E, ByteBody> extends { readonly query?: infer Value } ? NonNullable<Value> : never;
export type Body<E extends EndpointDefinition> =
  CallInput<E, ByteBody> extends { readonly body?: infer Value } ? NonNullable<Value> : never;

/** Calls of one connection: what modules that are loaded on demand get, so that they bring nothing of the core with them. */
export type Calling = <E extends EndpointDefinition>(
  endpoint: E,
  input: CallInput<E, ByteBody>,
  options?: CallOptions,
) => Promise<CallOutput<E>>;

export function callingOn(connection: Connection): Calling {
  return (endpoint, input, options) => callOn(connection, endpoint, input, options);
}

/** The query for one page; the first keeps the caller's own cursor. */
export function withCursor<Fields extends object>(
  query: Fields,
  cursor: string | undefined,
): Fields & { cursor?: string } {
  return cursor === undefined ? query : { ...query, cursor };
}

type Asynchronous = (...args: never[]) => Promise<unknown>;

/** Methods whose module is loaded with the first call of any of them. */
export function onDemand<Calls, const Names extends readonly (keyof Calls)[]>(
  load: () => Promise<Calls>,
  ...names: Names
): Pick<Calls, Names[number]> {
  const forward =
    (name: keyof Calls) =>
    async (...args: never[]) =>
      // Only methods are named, and `Pick` says so to callers; the type cannot follow through the loop over names.
      ((await load())[name] as Asynchronous)(...args);
  return Object.fromEntries(names.map((name) => [name, forward(name)])) as Pick<Calls, Names[number]>;
}
