/** What the calls for whole folders take and return. */
import type { ProfileStore } from "../../store/profile-store.ts";

/** What all calls for folders take. */
export interface FolderOptions {
  /** UUID of the vault. */
  readonly vaultId: string;
  /** UUID of the folder in the vault whose content is meant. Default: the top of the vault. `undefined` is refused. */
  readonly folderId?: string;
  /**
   * Also replaces files that differ; a function says which. It gets the path below the directory, with `/` between names, and the
   * real path of what is here. Default: false; they are left alone and named in `failed`.
   */
  readonly overwrite?: boolean | ((path: string, place: string) => boolean) | undefined;
  /** Only plans: nothing is written on either side. Default: false. */
  readonly dryRun?: boolean | undefined;
  /**
   * In a vault with encrypted names: lists all of it again. Otherwise it is listed once a day, and meanwhile the change feed shows
   * what has changed, which a service could leave something out of. Default: false.
   */
  readonly full?: boolean | undefined;
  /** Requests on their way at once: 1 to 32. Each takes up to 32 MiB of memory. Default: 4. */
  readonly lanes?: number | undefined;
  /**
   * Leaves out what it answers false for, and with a folder all below it. The path is below the directory, with `/` between names.
   * `place` is the real path of what is here, or where what is at the service would lie here. What is left out is in `skipped`,
   * and is touched on neither side. Default: nothing is left out.
   */
  readonly filter?: ((path: string, kind: "file" | "folder", place: string) => boolean) | undefined;
  /** Keeps what was the same on both sides, and uploads that are cut off. Default: `fileStore()`. */
  readonly store?: ProfileStore | undefined;
  /** Ends the call when it aborts; the next call goes on. Default: it runs to its end. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the plan, as bytes of a large file move, and after each file. Default: no function. */
  readonly onProgress?: ((progress: FolderProgress) => void) | undefined;
}

/** For `uploadFolder`. */
export interface UploadFolderOptions extends FolderOptions {
  /** In a shared vault: hides the sizes of the contents, which then take up to 12 % more. Default: false. */
  readonly padded?: boolean | undefined;
}

/** For `downloadFolder`. */
export interface DownloadFolderOptions extends FolderOptions {}

/** For `syncFolder`. */
export interface SyncFolderOptions extends UploadFolderOptions {
  /** `up`: the vault becomes like the directory. `down`: the directory becomes like the vault. */
  readonly direction: "up" | "down";
  /**
   * With `up`: what was deleted here since the last call goes to the trash there. With `down`: what was deleted or moved
   * there goes to the trash of this machine, and `restoreRemoved` brings it back. It removes only what is in the journal,
   * and only if nobody changed it since. Default: false.
   */
  readonly delete?: boolean | undefined;
  /**
   * The most files that the call may remove. If there are more, it ends before it does anything. Default: half of those that the
   * receiving side has, and none if the sending side is empty.
   */
  readonly maxDelete?: number | undefined;
}

/** For `restoreRemoved`. */
export interface RestoreRemovedOptions {
  /** Brings back what was taken since then. Default: what the last call took that has something left in the trash. */
  readonly since?: Date | undefined;
  /** Also replaces files that are in the directory now. They go to the trash. Default: false; they stay, and so does what is in the trash. */
  readonly overwrite?: boolean | undefined;
  /** Only plans: nothing is moved. Default: false. */
  readonly dryRun?: boolean | undefined;
  /** Ends the call when it aborts; the next call goes on. Default: it runs to its end. */
  readonly signal?: AbortSignal | undefined;
}

/** A file that a sync took. */
export interface RestoredFile {
  /** Path below the directory, with `/` between names. */
  readonly path: string;
  /** `exists`: the directory has a file there now, and this one stays in the trash. A dry run shows what would be done. */
  readonly act: "restored" | "exists";
  /** Bytes of the content. */
  readonly size: number;
  /** When the call that took it began, by this machine's clock: `2026-11-20T17:00:00.000Z`. */
  readonly removedAt: string;
}

/** Result of `restoreRemoved`. */
export interface RestoreRemovedResult {
  /** Whether it only planned. */
  readonly dryRun: boolean;
  /** What is in the trash, newest first. */
  readonly files: readonly RestoredFile[];
  /** Paths of folders that are made again. */
  readonly folders: readonly string[];
  /** What could not be brought back. It stays in the trash. */
  readonly failed: readonly FolderFailure[];
}

/** How far a call for a folder has come. */
export interface FolderProgress {
  /** Files that are done, failures included. */
  readonly files: number;
  /** Files of the plan that need work. */
  readonly totalFiles: number;
  /** Bytes that were moved, those of failed files included. */
  readonly bytes: number;
  /** Bytes of the files that have to be moved. */
  readonly totalBytes: number;
  /** The file that this report is about. null: the plan. */
  readonly file: MovingFile | null;
}

/** How far one file is. */
export interface MovingFile {
  /** Path below the directory, with `/` between names. */
  readonly path: string;
  /** Bytes that were moved. They go back when a part must be sent again. */
  readonly bytes: number;
  /** Bytes of the whole. */
  readonly size: number;
}

/** What a call sets out to do. */
export interface FolderPlan {
  /** Files that are new on the other side. */
  readonly create: number;
  /** Files that differ and are replaced. */
  readonly replace: number;
  /** Files that are the same on both sides. */
  readonly unchanged: number;
  /** Files and folders that go to the trash, there or here. */
  readonly remove: number;
  /** Folders that are new on the other side. */
  readonly folders: number;
  /** Bytes of the files to create and to replace. */
  readonly bytes: number;
}

/** A file's receipt. After a dry run it shows what would happen. */
export interface FileReceipt {
  /** Path below the directory, with `/` between names. */
  readonly path: string;
  /** What was done, or with `dryRun` would be done. */
  readonly act: "created" | "replaced" | "unchanged" | "removed";
  /** UUID of the file. null: a dry run that would create it. */
  readonly fileId: string | null;
  /** UUID of the content. null: a dry run that would make it. */
  readonly versionId: string | null;
  /** Bytes of the content. */
  readonly size: number;
  /** SHA-256 of the content: 64 lower-case hex digits. null: nothing had to read it, as in a dry run. */
  readonly sha256: string | null;
}

/** A folder's receipt. */
export interface FolderReceipt {
  /** Path below the directory, with `/` between names. */
  readonly path: string;
  /** What was done, or with `dryRun` would be done. */
  readonly act: "created" | "unchanged" | "removed";
  /** UUID of the folder. null: a dry run that would create it. */
  readonly folderId: string | null;
}

/** Something in the directory that these calls never move. */
export interface SkippedItem {
  /** Path below the directory, with `/` between names. */
  readonly path: string;
  /**
   * `link`: a symbolic link, which is never followed. `special`: a pipe, socket or device. `filter`: the caller's
   * filter left it out. The others stay where `delete` would remove them. `changed_there` and `changed_here`: somebody changed
   * it. `unknown_here` and `unknown_there`: the journal does not know it. `not_gone`: no list of the service names it, and yet
   * the service has it. `gone`: it went away while it was to be sent. `trash`: the trash of this machine.
   */
  readonly reason:
    | "link"
    | "special"
    | "filter"
    | "changed_there"
    | "unknown_here"
    | "changed_here"
    | "unknown_there"
    | "not_gone"
    | "gone"
    | "trash";
}

/** A file or folder that could not be moved. The others went on. */
export interface FolderFailure {
  /** Path below the directory, with `/` between names. */
  readonly path: string;
  /**
   * Code of an error of the SDK or of Node, such as `EACCES`, or one of these: `invalid_name`, `name_collision`,
   * `parent_failed`.
   */
  readonly code: string;
  /** What went wrong. */
  readonly message: string;
  /** What you do next: one sentence. */
  readonly nextStep: string;
}

/** Result of a call for a folder. `failed` is empty if everything is the same on both sides now. */
export interface FolderResult {
  /** Whether it only planned. */
  readonly dryRun: boolean;
  /** What the call set out to do. */
  readonly plan: FolderPlan;
  /** A receipt for each file that is the same on both sides now, and for each removed one. */
  readonly files: readonly FileReceipt[];
  /** A receipt for each folder that is on both sides now, and for each removed one. */
  readonly folders: readonly FolderReceipt[];
  /** What these calls do not move. */
  readonly skipped: readonly SkippedItem[];
  /** What could not be moved. */
  readonly failed: readonly FolderFailure[];
}
