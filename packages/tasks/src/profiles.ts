/** The profiles of this machine's configuration: which one is meant, and how it changes. */
import type { Profile } from "@coffer/sdk/node";
import { TaskFailure } from "./failure.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface ProfileChoice {
  readonly env: Environment;
  /** Default: `SERVICE_PROFILE`, then the file's default profile. It need not exist yet. */
  readonly profile?: string | undefined;
  /** Default: `SERVICE_BASE_URL`, then the profile's. */
  readonly baseUrl?: string | undefined;
}

export interface SelectedProfile {
  readonly configFile: string;
  readonly profile: string;
  /** null: nothing names a service yet. */
  readonly baseUrl: string | null;
  /** As it is now; null: there is none of this name. */
  readonly stored: Profile | null;
  /** The file's default profile is not there: this one becomes the default when it is saved. */
  readonly becomesDefault: boolean;
}

export async function findProfile({ env, profile, baseUrl }: ProfileChoice): Promise<SelectedProfile> {
  const { configFile, readConfig } = await import("@coffer/sdk/node");
  const file = configFile(env);
  const config = await readConfig(file);
  const name = nonEmpty(profile) ?? nonEmpty(env["SERVICE_PROFILE"]) ?? config?.defaultProfile ?? "default";
  const profiles = config?.profiles ?? {};
  const stored = Object.hasOwn(profiles, name) ? (profiles[name] ?? null) : null;
  return {
    configFile: file,
    profile: name,
    stored: stored,
    baseUrl: nonEmpty(baseUrl) ?? nonEmpty(env["SERVICE_BASE_URL"]) ?? stored?.baseUrl ?? null,
    becomesDefault: config === null || !Object.hasOwn(profiles, config.defaultProfile),
  };
}

/** What a profile keeps beside the address. Fields that are left out stay as they are; null removes one. */
export type ProfileChanges = Partial<Omit<Profile, "baseUrl">>;

/**
 * Saves changes (mode 0600, atomically, under a lock). A key or session of another service is dropped: it is never sent to an address that it is not for.
 * Its stores are dropped, too.
 * @throws TaskFailure `not_configured` when nothing names a service.
 */
export async function saveProfile(
  selected: SelectedProfile,
  changes: ProfileChanges,
  options: { readonly keychainIsLost?: boolean } = {},
): Promise<void> {
  const { writeConfig } = await import("@coffer/sdk/node");
  const { configFile, profile, baseUrl, stored } = selected;
  if (baseUrl === null) throw new TaskFailure("not_configured", { message: "Nothing names the service" });
  const isSameService = stored !== null && sameOrigin(stored.baseUrl, baseUrl);
  const apiKey = changes.apiKey !== undefined ? changes.apiKey : isSameService ? stored.apiKey : null;
  const session = changes.session !== undefined ? changes.session : isSameService ? undefined : null;
  const contentOrigins = changes.contentOrigins !== undefined || isSameService ? changes.contentOrigins : null;
  await writeConfig(
    {
      ...options,
      ...(selected.becomesDefault ? { defaultProfile: profile } : {}),
      profiles: { [profile]: { ...changes, baseUrl, apiKey, session, contentOrigins } },
    },
    configFile,
  );
}

function sameOrigin(one: string, other: string): boolean {
  const [a, b] = [URL.parse(one), URL.parse(other)];
  return a !== null && b !== null && a.origin === b.origin;
}

const nonEmpty = (text: string | undefined): string | undefined =>
  text === undefined || text === "" ? undefined : text;
