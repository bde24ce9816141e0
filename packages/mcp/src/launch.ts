/** The options that a server was started with. */

/** Each has the tools of those before it. */
export const PROFILES = ["read", "agent", "owner"] as const;

export type Profile = (typeof PROFILES)[number];

export const CONFIRM_MODES = ["auto", "token", "human-only"] as const;

export type ConfirmMode = (typeof CONFIRM_MODES)[number];

export const ROOTS_MODES = ["narrow", "only"] as const;

export type RootsMode = (typeof ROOTS_MODES)[number];

export interface Launch {
  readonly profile: Profile;
  /** Only these tools; null: all of the profile. */
  readonly tools: readonly string[] | null;
  readonly excludeTools: readonly string[];
  readonly readOnly: boolean;
  /** The only vault this server serves. */
  readonly vaultId: string | null;
  /**
   * What agrees where the host cannot ask its user. `token`: the model, with a token of the preview. `human-only`: nobody.
   * `auto`: as `token`, until text of others was shown. From then on nobody agrees to what leads out of the account, reaches new
   * readers, or cannot be undone.
   */
  readonly confirm: ConfirmMode;
  /** Text of shared vaults may go into conversations. */
  readonly revealSharedText: boolean;
  /** Downloads may write files by names that programs and agents obey. */
  readonly allowConfigFiles: boolean;
  readonly configFile: string | null;
  readonly allowedFolders: readonly string[];
  /** How the folders that a client names as its roots count. */
  readonly roots: RootsMode;
  /** The folder that downloads go below. null: `coffer` in the first folder that is allowed to the call. */
  readonly downloads: string | null;
  /** null: one client on stdin and stdout. */
  readonly http: HttpLaunch | null;
}

export interface HttpLaunch {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** The address that clients use. null: the one that is listened on. */
  readonly publicUrl: string | null;
  /** Origins of web pages that may call. Those of this machine always may. */
  readonly allowedOrigins: readonly string[];
}
