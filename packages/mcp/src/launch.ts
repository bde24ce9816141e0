/** How a server was asked to start. */

export const PROFILES = ["agent", "owner", "read"] as const;

export type Profile = (typeof PROFILES)[number];

export interface Launch {
  /** null: by the key's access level, so an owner's key gets the owner's tools. */
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
