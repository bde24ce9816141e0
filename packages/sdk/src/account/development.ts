/** Accounts of a service in development. */
import { developmentGroup, type api } from "@coffer/contract";
import { callOn } from "../http/call.ts";
import type { Body, Result } from "../http/endpoint-types.ts";
import type { Connection, CallOptions } from "../connection/options.ts";

/** Input of `development.signup`. */
export interface DevelopmentSignupInput extends Body<typeof api.development.signup> {}

/** A new account of a service in development, with its key. */
export interface DevelopmentAccount extends Result<typeof api.development.signup> {}

export interface DevelopmentResource {
  /** Makes an account with a key; 404 outside development. */
  signup(input: DevelopmentSignupInput, options?: CallOptions): Promise<DevelopmentAccount>;
}

export function developmentResource(connection: Connection): DevelopmentResource {
  return { signup: (body, options) => callOn(connection, developmentGroup.signup, { body }, options) };
}
