/** The types of an endpoint's parts, as the methods of resources take and return them. */
import type { CallInput, EndpointDefinition, Output, PageQuery } from "@coffer/contract";
import type { ByteBody } from "./accepted-bytes.ts";

export type Query<E extends EndpointDefinition> =
  CallInput<E, ByteBody> extends { readonly query?: infer Value } ? Readonly<NonNullable<Value>> : never;
export type Body<E extends EndpointDefinition> =
  CallInput<E, ByteBody> extends { readonly body?: infer Value } ? Readonly<NonNullable<Value>> : never;

/** The query of a list. */
export type ListQuery<E extends EndpointDefinition> = Omit<PageQuery, "cursor"> & {
  /** What the page before has as `nextCursor`. Default: null, which begins with the first page. */
  readonly cursor?: string | null | undefined;
} & Omit<Query<E>, keyof PageQuery>;

/** The JSON that an endpoint returns. */
export type Result<E extends EndpointDefinition> = Readonly<Output<E, never>>;
