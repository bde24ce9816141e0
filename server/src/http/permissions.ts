import { type AccessLevel, type EndpointDefinition, scopeOf } from "@coffer/contract";
import type { Principal } from "../handler.ts";
import { ServiceError } from "../service-error.ts";

/**
 * The permission matrix of specification §5.9 and decisions §4, read from the endpoint's data: access level, then
 * scope, then the vault limit `refuse`. What depends on the object (`object`, `filter`) is the handler's to hold.
 */
export function authorize(endpoint: EndpointDefinition, principal: Principal): void {
  requireLevel(endpoint, principal.accessLevel);
  const scope = scopeOf(endpoint, principal.accessLevel);
  if (scope !== null && principal.scopes !== null && !principal.scopes.has(scope)) {
    throw new ServiceError("missing_scope", `The key lacks the scope ${scope}`);
  }
  if (endpoint.vaultLimit === "refuse" && principal.vaultIds !== null) throw new ServiceError("vault_limited_key");
}

/** Throws `owner_only`. */
export function requireLevel(endpoint: EndpointDefinition, accessLevel: AccessLevel): void {
  if (endpoint.access === "owner" && accessLevel !== "owner") throw new ServiceError("owner_only");
}
