/** The part of the interface that every client needs. */
import { accountGroup } from "./account.ts";
import { developmentGroup } from "./development.ts";
import { filesGroup } from "./files.ts";
import { foldersGroup } from "./folders.ts";
import { systemGroup } from "./system.ts";
import { vaultsGroup } from "./vaults.ts";

/** The endpoints that clients carry with them; the others are modules of their own, loaded when they are first used. */
export const clientApi = {
  account: accountGroup,
  development: developmentGroup,
  vaults: vaultsGroup,
  folders: foldersGroup,
  files: filesGroup,
  system: systemGroup,
} as const;
