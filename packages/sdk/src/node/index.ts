/**
 * `@coffer/sdk/node`: everything that needs this machine: the configuration file, settings, and transfers from and to
 * files.
 * @packageDocumentation
 */
export { configDirectory, configFile, type Environment } from "./config/config-place.ts";
export {
  readConfig,
  writeConfig,
  type Config,
  type ConfigChanges,
  type KeyStore,
  type Profile,
} from "./config/config.ts";
export { guessContentType } from "./files/content-type.ts";
export { deprecationWarnings } from "./config/deprecation.ts";
export { downloadFile, type DownloadFileOptions, type DownloadFileResult } from "./files/download-file.ts";
export { exportVault, openExport } from "./files/export-directory.ts";
export type { ExportOptions, ExportProgress, ExportResult } from "../shared-vaults/export/export.ts";
export type { OpenExportOptions } from "../shared-vaults/export/open-export.ts";
export type {
  ExportedFile,
  ExportedFolder,
  ExportProblem,
  OpenedExport,
} from "../shared-vaults/export/opened-export.ts";
export { downloadFolder, knowsFolder, restoreRemoved, syncFolder, uploadFolder } from "./folders/index.ts";
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
export { ProfileMissingError } from "./config/profile-missing.ts";
export {
  readNetworkFile,
  readServedNetwork,
  saveServedNetwork,
  type NetworkFile,
  type ServedNetwork,
} from "./config/network-file.ts";
export { fileStore, storeDirectory } from "./store/file-store.ts";
export { saveExport, type SavedExport, type SavedFile, type SaveExportOptions } from "./files/save-export.ts";
export { savedSession } from "./config/saved-session.ts";
export {
  contentOriginsIn,
  resolveSettings,
  type Settings,
  type SettingsFlags,
  type SettingSource,
  type SettingSources,
} from "./config/settings.ts";
export { openSharedVaults } from "./shared-vaults.ts";
export { nodeTransport, type NodeTransportOptions } from "./transport.ts";
export { uploadFile, type UploadFileOptions } from "./files/upload-file.ts";
export {
  uploadFiles,
  type LocalUpload,
  type LocalUploadOutcome,
  type UploadFilesOptions,
} from "./files/upload-files.ts";
