import type { IdentityProviderConfig } from "../../config.ts";
import type { IdentityProvider } from "../../ports/identity-provider.ts";

/** `redirectUri`: where the provider sends the browser back to. */
export function openOidc(_config: IdentityProviderConfig, _redirectUri: string): IdentityProvider {
  throw new Error("placeholder");
}
