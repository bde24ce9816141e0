/** The fields of calls. */
import type { CallInput, EndpointDefinition } from "@coffer/contract";
import type { ByteBody } from "../http/byte-body.ts";

export type Query<E extends EndpointDefinition> =
  CallInput<E, ByteBody> extends { readonly query?: infer Value } ? Readonly<NonNullable<Value>> : never;
export type Body<E extends EndpointDefinition> =
  CallInput<E, ByteBody> extends { readonly body?: infer Value } ? Readonly<NonNullable<Value>> : never;
