/** The whole interface. */
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
import { fileCommitGroup } from "./file-commit.ts";
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

/** The groups of endpoints. The type names each group, so that declarations refer to it and do not repeat it. */
export type CofferApi = {
  readonly account: typeof accountGroup;
  readonly auth: typeof authGroup;
  readonly sessions: typeof sessionsGroup;
  readonly identityProvider: typeof identityProviderGroup;
  readonly development: typeof developmentGroup;
  readonly apiKeys: typeof apiKeysGroup;
  readonly invites: typeof invitesGroup;
  readonly vaults: typeof vaultsGroup & typeof restoringGroup;
  readonly members: typeof membersGroup;
  readonly vaultKeys: typeof vaultKeysGroup;
  readonly ownership: typeof ownershipGroup;
  readonly deletion: typeof deletionGroup;
  readonly folderNames: typeof folderNamesGroup;
  readonly folders: typeof foldersGroup & typeof folderEntriesGroup;
  readonly files: Omit<typeof filesGroup, keyof typeof redirectsGroup> &
    typeof redirectsGroup &
    typeof versionsGroup &
    typeof fileEntriesGroup &
    typeof batchesGroup &
    typeof searchGroup &
    typeof itemActsGroup &
    typeof fileCommitGroup;
  readonly uploads: typeof uploadsGroup;
  readonly trash: typeof trashGroup;
  readonly billing: typeof billingGroup;
  readonly audit: typeof auditGroup;
  readonly webhooks: typeof webhooksGroup;
  readonly webhookEvents: typeof webhookEventsGroup;
  readonly events: typeof eventsGroup;
  readonly changes: typeof changesGroup;
  readonly system: typeof systemGroup;
};

/** Every endpoint of the service, by group and name. */
export const api: CofferApi = {
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
    ...filesGroup,
    ...redirectsGroup,
    ...versionsGroup,
    ...fileEntriesGroup,
    ...batchesGroup,
    ...searchGroup,
    ...itemActsGroup,
    ...fileCommitGroup,
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
};
