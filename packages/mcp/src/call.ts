import type { AllowedFolders, SetupReport, Task } from "@coffer/tasks";

/** What a tool needs for its work: one value per call. */
export interface Call extends Task {
  /** The local folders of this call: the configured ones, narrowed by the client's roots. */
  readonly folders: AllowedFolders;
  /** The only vault that this server serves (`--vault`), or null. */
  readonly pinnedVault: string | null;
  /** Whether text of shared vaults may be shown (`--reveal-shared-text`). */
  readonly revealsSharedText: boolean;
  /** How this server is set up; no secrets. */
  setup(): Promise<SetupReport>;
}
