import type { Client } from "@coffer/sdk";
import type { AllowedFolders } from "./paths/allowed-folders.ts";

/** What a tool gets to do its work with: one value per call. */
export interface Call {
  /** Aborts when the client cancels, or when the server stops. */
  readonly signal: AbortSignal;
  /** Tells the client how far a transfer is, in bytes. Does nothing when the client did not ask. */
  progress(done: number, total: number): void;
  /** The signed-in client. Throws ToolFailure `signed_out` without credentials. */
  client(): Promise<Client>;
  /** The local folders of this call: the configured ones, narrowed by the client's roots. */
  readonly folders: AllowedFolders;
  /** The only vault this server serves (`--vault`), or null. */
  readonly pinnedVault: string | null;
  /** How this server is set up; no secrets. */
  setup(): Promise<SetupReport>;
  /** This server's own address on the chain; null where it has no chain key. */
  chainAddress(): Promise<string | null>;
}

/** How the server is set up, for `status_check`. No secrets. */
export interface SetupReport {
  readonly baseUrl: string | null;
  readonly configFile: string | null;
  /** The profile of the config file. */
  readonly configProfile: string | null;
  readonly keyFrom: string | null;
  /** Whether there is what opens shared vaults: a chain key and a network file. */
  readonly sharedVaults: "ready" | "no chain key" | "no network file" | "not set up";
}
