/**
 * `@coffer/tasks`: what tools for models and commands for people both do, without the words of either side's protocol.
 * @packageDocumentation
 */
export { digestLocal, digestStored, verifyFile, type Digest, type StoredDigest, type Verification } from "./digests.ts";
export {
  LOCAL_FAILURES,
  stepFor,
  TaskFailure,
  toFailure,
  withStep,
  type Candidate,
  type FailureCode,
  type FailureDetails,
} from "./failure.ts";
export {
  findActor,
  findAuthor,
  findHolder,
  findKeysOfAddress,
  listAccess,
  revokeHolder,
  rewindHolder,
  type Access,
  type AccessHolder,
  type AccessPage,
  type Revocation,
  type RewindRequest,
} from "./access.ts";
export { ACCESS_LAYERS, explainAccess, type ExplainedAccess } from "./access-check.ts";
export { findAgent, admitAgent, listAgents, type Agent, type Admission } from "./agents.ts";
export {
  decisionFile,
  describeDecision,
  findProvenInvites,
  inviteFile,
  saveInvite,
  type InviteTerms,
  type StoredInvite,
} from "./invite-store.ts";
export { readAudit, type AuditPage, type AuditQuery } from "./audit.ts";
export { joinByInvite, approveCommand, type JoinResult, type JoinOptions } from "./join.ts";
export { findInvite, findKey, findTrashedVault, findWebhook } from "./account-lookup.ts";
export { findProfile, saveProfile, type ProfileChanges, type SelectedProfile, type ProfileChoice } from "./profiles.ts";
export { inCommandWords, inToolWords, METHOD_COMMANDS } from "./method-commands.ts";
export { FUTURE_FORMS, parseEnd, parseMoment, PAST_FORMS, ZONE_FORMS, type TimeZone } from "./time-parser.ts";
export { deleteSecretFile, readSecretFile, writeSecretFile } from "./secret-file.ts";
export {
  resolvePath,
  noSuchFile,
  foldersOfPerson,
  narrowByRoots,
  resolveFolders,
  type AllowedFolders,
  type ResolvedFolders,
} from "./paths/allowed-folders.ts";
export { DOWNLOADS_STEP, downloadsOf, makeDownloadsFolder } from "./paths/downloads-folder.ts";
export { ownConfiguration, type DenyList } from "./paths/deny-list.ts";
export {
  openDestination,
  openFolder,
  openSource,
  requireAllowed,
  type Destination,
  type SourceFile,
} from "./paths/local-files.ts";
export {
  findFile,
  findFolder,
  findItem,
  findVault,
  ROOT,
  segmentsOf,
  shortIds,
  walkFolders,
  wholeId,
  writableVault,
  type Item,
  type FolderWalk,
} from "./item-lookup.ts";
export { createRedaction, type Redaction } from "./redaction.ts";
export {
  acceptServedNetwork,
  type NetworkAcceptance,
  type NetworkRequest,
  type NetworkProof,
} from "./served-network.ts";
export {
  createServiceLink,
  defaultVaultType,
  serviceLinkOver,
  TIMEOUTS,
  type ServiceLink,
  type ServiceLinkOptions,
  type SetupReport,
} from "./service-link.ts";
export { restoreSynced, syncFolders, type SyncPlan } from "./sync.ts";
export { runConcurrently } from "./concurrency.ts";
export type { FileProgress, Task } from "./task.ts";
export { Untrusted, untrusted, untrustedText } from "./untrusted.ts";
export {
  downloadFolderTo,
  downloadMany,
  downloadOne,
  findFileOverwrites,
  findFolderOverwrites,
  type DownloadPlan,
  type DownloadedFile,
} from "./downloads.ts";
export { allowOverwrites, type Overwrite } from "./overwrites.ts";
export { ensureFolder } from "./folders.ts";
export {
  deleteItems,
  itemsBelow,
  lookUpEach,
  findItems,
  findVersion,
  moveItems,
  nameOf,
  renameItem,
  restoreItems,
  trashItems,
  vaultOf,
  type ItemOutcome,
} from "./item-acts.ts";
export {
  storeStream,
  storeText,
  uploadSource,
  withPath,
  type UploadOutcome,
  type UploadRequest,
} from "./upload-source.ts";
export { IGNORE_FILE, type PathRules } from "./ignore-rules.ts";
export { editText, type EditPlan, type TextEdit } from "./text-edits.ts";
export { uploadPaths, type TransferRow, type UploadPlan, type UploadReport } from "./uploads.ts";
