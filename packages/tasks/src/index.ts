/**
 * `@coffer/tasks`: what tools for models and commands for people both do, without the words of either side's protocol.
 * @packageDocumentation
 */
export { digestLocal, digestStored, verifyFile, type Digest, type StoredDigest, type Verified } from "./digests.ts";
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
  type Revoked,
  type RewindWish,
} from "./access.ts";
export { ACCESS_LAYERS, explainAccess, type ExplainedAccess } from "./access-check.ts";
export { findAgent, letIn, listAgents, type Agent, type LetIn } from "./agents.ts";
export {
  decisionFile,
  describeDecision,
  findKeptInvites,
  inviteFile,
  keepInvite,
  type InviteWish,
  type KeptInvite,
} from "./invite-store.ts";
export { readAudit, type AuditPart, type AuditWish } from "./audit.ts";
export { joinByInvite, lettingIn, type Joined, type Joining } from "./join.ts";
export { findInvite, findKey, findTrashedVault, findWebhook } from "./account-lookup.ts";
export { findProfile, saveProfile, type ProfileChanges, type ProfilePlace, type ProfileWish } from "./profiles.ts";
export { inCommandWords, inToolWords, METHOD_WORDS } from "./method-commands.ts";
export { FUTURE_FORMS, parseEnd, parseMoment, PAST_FORMS, ZONE_FORMS, type TimeZone } from "./time-parser.ts";
export { dropSecretFile, readSecretFile, writeSecretFile } from "./secret-file.ts";
export {
  findPlace,
  notFound,
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
  type Walked,
} from "./item-lookup.ts";
export { createRedaction, type Redaction } from "./redaction.ts";
export { adoptServedNetwork, type NetworkAdoption, type NetworkAsking, type NetworkProof } from "./served-network.ts";
export { createSession, sessionOver, type Session, type SessionOptions, type SetupReport } from "./service-link.ts";
export { restoreSynced, syncFolders, type SyncPlan } from "./sync.ts";
export { inLanes } from "./concurrency.ts";
export type { FileProgress, Task } from "./task.ts";
export { Untrusted, untrusted, untrustedText } from "./untrusted.ts";
export {
  downloadFolderTo,
  downloadMany,
  downloadOne,
  replacedByFiles,
  replacedByFolder,
  type DownloadPlan,
  type Fetched,
} from "./downloads.ts";
export { onlyThese, type Replaced } from "./overwrites.ts";
export { ensureFolder } from "./folders.ts";
export {
  deleteItems,
  itemsBelow,
  findEach,
  findItems,
  findVersion,
  moveItems,
  nameOf,
  renameItem,
  restoreItems,
  trashItems,
  vaultOf,
  type ActOutcome,
} from "./item-acts.ts";
export { storeStream, storeText, uploadSource, withPath, type Stored, type UploadWish } from "./upload-source.ts";
export { uploadPaths, type Transferred, type UploadPlan, type UploadReport } from "./uploads.ts";
