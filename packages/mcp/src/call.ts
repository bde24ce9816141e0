import type { Transfers, Watch } from "./transfers.ts";
import type { AllowedFolders, StoredInvite, ServiceLink, SetupReport, Task } from "@coffer/tasks";

export interface ConfirmRequest {
  /** What would happen: counts, names, bytes. Trusted text only. */
  readonly preview: string;
  /** Ids and versions of what is acted on. */
  readonly state: unknown;
  /** The state as it is now: a person may take a while to answer. */
  readonly stateNow: () => Promise<unknown>;
  /** What the caller passed as `confirm`. */
  readonly token: string | undefined;
  /** The act leads out of the account, or cannot be undone. Once text of others was shown, only the host's user can agree to it. */
  readonly isFinal?: boolean;
}

/** What a tool needs for its work: one value per call. */
export interface Call extends Task {
  /** The local folders of this call: the configured ones, narrowed by the client's roots (`--roots`). */
  readonly folders: AllowedFolders;
  /** The one folder that downloads of this call go below. */
  readonly downloads: AllowedFolders;
  /** The only vault that this server serves (`--vault`), or null. */
  readonly pinnedVault: string | null;
  /** Long transfers of this process. */
  readonly transfers: Transfers;
  /** This call, whose transfers also report to the watch, and end with it. */
  watchedBy(watch: Watch): Call;
  /**
   * Returns when a person agreed to what the preview says.
   * @throws TaskFailure `confirmation_required` with the preview and a token.
   */
  confirm(request: ConfirmRequest): Promise<void>;
  /** Records that text of others goes into the conversation: see `CredentialState.taint`. */
  taint(): void;
  /** Records that content of a shared vault leaves it: see `CredentialState.taint`. */
  recordClosedContent(): void;
  /** The server is on another machine than the user's, so it opens no shared vault and hands out no file. */
  readonly isRemote: boolean;
  /** @throws TaskFailure `remote_server` where no file on this machine reaches the user. Ask before a secret is made. */
  requireHandOut(): void;
  /** Writes a secret into a file of mode 0600 and returns its path; null: it could not be written. No answer shows it. */
  handOut(name: string, secret: string): Promise<string | null>;
  /** The invites that this machine made and whose agents were not let in yet, by the chain address that each one proves. */
  storedInvites(): Promise<ReadonlyMap<string, StoredInvite>>;
  /** Whether text of shared vaults may be shown (`--reveal-shared-text`). */
  readonly revealsSharedText: boolean;
  /** How this server is set up; no secrets. */
  setup(): Promise<SetupReport>;
  /** Whether chain and key servers answer; null: this server opens no shared vaults. */
  network: ServiceLink["network"];
}
