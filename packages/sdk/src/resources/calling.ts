/** The parts of every resource: the fields of its calls, and methods that are loaded when they are first used. */
import type { CallInput, EndpointDefinition } from "@coffer/contract";
import type { ByteBody } from "../byte-body.ts";

export type Query<E extends EndpointDefinition> =
  CallInput<E, ByteBody> extends { readonly query?: infer Value } ? Readonly<NonNullable<Value>> : never;
export type Body<E extends EndpointDefinition> =
  CallInput<E, ByteBody> extends { readonly body?: infer Value } ? Readonly<NonNullable<Value>> : never;

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
