import type { AllowedFolders, SetupReport, Task } from "@coffer/tasks";

/** What a tool gets to do its work with: one value per call. */
export interface Call extends Task {
  /** The local folders of this call: the configured ones, narrowed by the client's roots. */
  readonly folders: AllowedFolders;
  /** The only vault this server serves (`--vault`), or null. */
  readonly pinnedVault: string | null;
  /** How this server is set up; no secrets. */
  setup(): Promise<SetupReport>;
}
