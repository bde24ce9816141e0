/** What all steps of one call for a folder share. */
import type { Client } from "../../client.ts";
import type { ProfileStore } from "../../store/profile-store.ts";
import type { Outcome } from "./outcome.ts";
import type { LocalTree } from "./local-tree.ts";
import type { FolderProgress } from "./options.ts";
import type { RemoteFile, RemoteFolder, RemotePlace, RemoteTree } from "./remote-tree.ts";
import type { FolderState } from "./state.ts";

export interface FolderJob {
  readonly client: Client;
  readonly direction: "up" | "down";
  readonly place: RemotePlace;
  /** The vault is public: digests of the service are those of the contents. */
  readonly isPublic: boolean;
  readonly root: string;
  readonly local: LocalTree;
  readonly remote: RemoteTree;
  readonly state: FolderState;
  readonly outcome: Outcome;
  /** Paths that the receiving side loses. */
  readonly going: Set<string>;
  readonly progress: ProgressCount;
  readonly lanes: number;
  readonly signal: AbortSignal | undefined;
  readonly dryRun: boolean;
  /** Whether a file that differs is replaced. */
  readonly overwrite: (path: string, place: string) => boolean;
  /** Also replaces a file that the receiving side left as the journal has it. */
  readonly replaceKnown: boolean;
  readonly padded: boolean;
  readonly store: ProfileStore;
}

/** A file to move. `there`: what it replaces on the service; `null` makes a new one. */
export interface Transfer {
  readonly path: string;
  readonly size: number;
  readonly act: "created" | "replaced";
}

export interface Removal {
  readonly path: string;
  readonly item: RemoteFile | RemoteFolder;
}

export interface Plan {
  /** Paths, parents first. */
  readonly folders: readonly string[];
  readonly transfers: readonly Transfer[];
}

export class ProgressCount {
  #now: FolderProgress = { files: 0, totalFiles: 0, bytes: 0, totalBytes: 0, file: null };
  /** Bytes of files that are on their way. */
  readonly #moving = new Map<string, number>();
  readonly #report: ((progress: FolderProgress) => void) | undefined;

  constructor(report: ((progress: FolderProgress) => void) | undefined) {
    this.#report = report;
  }

  start(totalFiles: number, totalBytes: number): void {
    this.#now = { ...this.#now, totalFiles, totalBytes };
    this.#report?.(this.#now);
  }

  /** A part of a file was moved. */
  moved({ path, size }: Transfer, bytes: number): void {
    this.#step(path, { bytes: Math.min(bytes, size), size }, 0);
    this.#moving.set(path, Math.min(bytes, size));
  }

  done({ path, size }: Pick<Transfer, "path" | "size">): void {
    this.#step(path, { bytes: size, size }, 1);
    this.#moving.delete(path);
  }

  #step(path: string, file: { readonly bytes: number; readonly size: number }, files: number): void {
    const bytes = this.#now.bytes + file.bytes - (this.#moving.get(path) ?? 0);
    this.#now = { ...this.#now, bytes, files: this.#now.files + files, file: { path, ...file } };
    this.#report?.(this.#now);
  }
}
