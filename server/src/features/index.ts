/** All handlers of the service, by group: what the contract names and nothing else. */
import type { CofferApi } from "@coffer/contract";
import type { Deps } from "../deps.ts";
import type { Handlers } from "../handler.ts";
import type { Limits } from "../limits/limits.ts";
import { accountHandlers } from "./account/handlers.ts";
import { linkingHandlers } from "./linking/handlers.ts";
import { apiKeysHandlers } from "./api-keys/handlers.ts";
import { auditHandlers } from "./audit/handlers.ts";
import { authHandlers } from "./auth/handlers.ts";
import { billingHandlers } from "./billing/handlers.ts";
import { changesHandlers } from "./events/changes.ts";
import { deletionHandlers } from "./deletion/handlers.ts";
import { developmentHandlers } from "./development/handlers.ts";
import { filesHandlers } from "./files/handlers.ts";
import { folderNamesHandlers } from "./folder-names/handlers.ts";
import { foldersHandlers } from "./folders/handlers.ts";
import { identityProviderHandlers } from "./identity-provider/handlers.ts";
import { invitesHandlers } from "./invites/handlers.ts";
import { membersHandlers } from "./members/handlers.ts";
import { sessionsHandlers } from "./sessions/handlers.ts";
import { type SystemParts, systemHandlers } from "./system/handlers.ts";
import { ownershipHandlers } from "./ownership/handlers.ts";
import { trashHandlers } from "./vaults/trash.ts";
import { uploadsHandlers } from "./files/upload/resumable/handlers.ts";
import { vaultKeysHandlers } from "./vault-keys/handlers.ts";
import { vaultsHandlers } from "./vaults/handlers.ts";
import { type EventsParts, eventsHandlers } from "./events/handlers.ts";
import { webhookEventsHandlers } from "./webhooks/events/handlers.ts";
import { webhooksHandlers } from "./webhooks/handlers.ts";

type Parts = SystemParts & EventsParts & { readonly limits: Limits };

export function createHandlers(deps: Deps & Parts): Handlers<CofferApi> {
  return {
    account: { ...accountHandlers(deps), ...linkingHandlers(deps) },
    auth: authHandlers(deps),
    sessions: sessionsHandlers(deps),
    identityProvider: identityProviderHandlers(deps),
    development: developmentHandlers(deps),
    apiKeys: apiKeysHandlers(deps),
    invites: invitesHandlers(deps),
    vaults: vaultsHandlers(deps),
    members: membersHandlers(deps),
    ownership: ownershipHandlers(deps),
    deletion: deletionHandlers(deps),
    vaultKeys: vaultKeysHandlers(deps),
    folderNames: folderNamesHandlers(deps),
    folders: foldersHandlers(deps),
    files: filesHandlers(deps),
    uploads: uploadsHandlers(deps),
    trash: trashHandlers(deps),
    billing: billingHandlers(deps),
    audit: auditHandlers(deps),
    webhooks: webhooksHandlers(deps),
    webhookEvents: webhookEventsHandlers(),
    events: eventsHandlers(deps),
    changes: changesHandlers(deps),
    system: systemHandlers(deps),
  };
}
