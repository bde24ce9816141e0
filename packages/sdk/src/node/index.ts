/**
 * `@coffer/sdk/node`: everything that needs this machine: the configuration file, settings, and transfers from and to
 * files.
 * @packageDocumentation
 */
export {
  configDirectory,
  configFile,
  readConfig,
  writeConfig,
  type Config,
  type ConfigChanges,
  type Environment,
  type KeyStore,
  type Profile,
} from "./config.ts";
export { guessContentType } from "./content-type.ts";
export { creationFile, fileCreations } from "./creation-file.ts";
export { deprecationWarnings } from "./deprecation.ts";
export { downloadFile, type DownloadFileOptions, type DownloadFileResult } from "./download-file.ts";
export { exportVault, openExport } from "./export-directory.ts";
export type { ExportOptions, ExportProgress, ExportResult } from "../vaults/export/export.ts";
export type { OpenExportOptions } from "../vaults/export/open-export.ts";
export type { ExportedFile, ExportedFolder, ExportProblem, OpenedExport } from "../vaults/export/opened-export.ts";
export { downloadFolder, knowsFolder, restoreRemoved, syncFolder, uploadFolder } from "./folders.ts";
export type {
  DownloadFolderOptions,
  FileReceipt,
  FolderFailure,
  FolderOptions,
  FolderPlan,
  FolderProgress,
  FolderReceipt,
  FolderResult,
  MovingFile,
  RestoredFile,
  RestoreRemovedOptions,
  RestoreRemovedResult,
  SkippedItem,
  SyncFolderOptions,
  UploadFolderOptions,
} from "./folders/options.ts";
export { namesNotUtf8 } from "./folders/local-tree.ts";
export { isLocalTrash } from "./folders/trash-name.ts";
export { ProfileMissingError } from "./profile-missing.ts";
export { fileNames, namesDirectory } from "./name-files.ts";
export {
  readNetworkFile,
  readServedNetwork,
  saveServedNetwork,
  type NetworkFile,
  type ServedNetwork,
} from "./network-file.ts";
export { filePins, pinFile } from "./pin-file.ts";
export { fileSeen, seenDirectory } from "./seen-file.ts";
export { saveExport, type SavedExport, type SavedFile, type SaveExportOptions } from "./save-export.ts";
export { savedSession } from "./saved-session.ts";
export {
  contentOriginsIn,
  resolveSettings,
  type Settings,
  type SettingsFlags,
  type SettingSource,
  type SettingSources,
} from "./settings.ts";
export { openSharedVaults } from "./shared-vaults.ts";
export { nodeTransport, type NodeTransportOptions } from "./transport.ts";
export { fileUploadJournals, uploadDirectory } from "./upload-journals.ts";
export { uploadFile, type UploadFileOptions } from "./upload-file.ts";
