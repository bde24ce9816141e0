/** The options that a server was started with. */

export const PROFILES = ["agent", "owner", "read"] as const;

export type Profile = (typeof PROFILES)[number];

export interface Launch {
  /** null: the key's access level decides, so an owner's key gets the owner's tools. */
  readonly profile: Profile | null;
  /** Only these tools; null: all of the profile. */
  readonly tools: readonly string[] | null;
  readonly excludeTools: readonly string[];
  readonly readOnly: boolean;
  /** The only vault this server serves. */
  readonly vaultId: string | null;
  readonly configFile: string | null;
  readonly allowedFolders: readonly string[];
}
