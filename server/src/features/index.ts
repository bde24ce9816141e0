/** All handlers of the service, by group: what the contract names and nothing else. */
import { api } from "@coffer/contract";
import type { Deps } from "../deps.ts";
import type { Handlers } from "../http/handlers.ts";
import { accountHandlers } from "./account/handlers.ts";
import { apiKeysHandlers } from "./api-keys/handlers.ts";
import { developmentHandlers } from "./development/handlers.ts";
import { type SystemParts, systemHandlers } from "./system/handlers.ts";
import { vaultsHandlers } from "./vaults/handlers.ts";

const { account, development, apiKeys, vaults, system } = api;
/** The groups whose handlers exist. */
export const served = { account, development, apiKeys, vaults, system };

export function createHandlers(deps: Deps & SystemParts): Handlers<typeof served> {
  return {
    account: accountHandlers(deps),
    development: developmentHandlers(deps),
    apiKeys: apiKeysHandlers(deps),
    vaults: vaultsHandlers(deps),
    system: systemHandlers(deps),
  };
}
