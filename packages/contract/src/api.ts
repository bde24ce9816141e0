/**
 * The whole interface. Not in index.ts: bundlers put into the first chunk what a file there imports, although only `api` uses it, and
 * clients use {@link clientApi}.
 */
import { accountGroup } from "./account.ts";
import { apiKeysGroup } from "./api-keys.ts";
import { auditGroup } from "./audit.ts";
import { authGroup } from "./auth.ts";
import { batchesGroup } from "./batches.ts";
import { billingGroup } from "./billing.ts";
import { changesGroup } from "./changes.ts";
import { redirectsGroup } from "./content-redirects.ts";
import { deletionGroup, restoringGroup } from "./deletion.ts";
import { developmentGroup } from "./development.ts";
import { fileEntriesGroup, folderEntriesGroup } from "./entries.ts";
import { filesGroup } from "./files.ts";
import { foldersGroup } from "./folders.ts";
import { eventsGroup, webhookEventsGroup, webhooksGroup } from "./webhooks.ts";
import { identityProviderGroup } from "./identity-provider.ts";
import { invitesGroup } from "./invites.ts";
import { searchGroup } from "./search.ts";
import { itemActsGroup } from "./item-acts.ts";
import { sessionsGroup } from "./sessions.ts";
import { folderNamesGroup, membersGroup, ownershipGroup, vaultKeysGroup } from "./shared-vaults.ts";
import { systemGroup } from "./system.ts";
import { trashGroup } from "./trash.ts";
import { uploadsGroup } from "./uploads.ts";
import { vaultsGroup } from "./vaults.ts";
import { versionsGroup } from "./versions.ts";

/** Every endpoint of the service, by group and name. Written out: bundlers keep what is spread, used or not. */
export const api = {
  account: accountGroup,
  auth: authGroup,
  sessions: sessionsGroup,
  identityProvider: identityProviderGroup,
  development: developmentGroup,
  apiKeys: apiKeysGroup,
  invites: invitesGroup,
  vaults: { ...vaultsGroup, ...restoringGroup },
  members: membersGroup,
  vaultKeys: vaultKeysGroup,
  ownership: ownershipGroup,
  deletion: deletionGroup,
  folderNames: folderNamesGroup,
  folders: { ...foldersGroup, ...folderEntriesGroup },
  files: {
    ...{ ...filesGroup, ...redirectsGroup, ...versionsGroup, ...fileEntriesGroup },
    ...{ ...batchesGroup, ...searchGroup, ...itemActsGroup },
  },
  uploads: uploadsGroup,
  trash: trashGroup,
  billing: billingGroup,
  audit: auditGroup,
  webhooks: webhooksGroup,
  webhookEvents: webhookEventsGroup,
  events: eventsGroup,
  changes: changesGroup,
  system: systemGroup,
} as const;

export type CofferApi = typeof api;
