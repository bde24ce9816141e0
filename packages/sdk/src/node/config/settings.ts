import { Secret } from "../../http/secret.ts";
import type { SessionCredentials } from "../../connection/session-credentials.ts";
import { KeychainSecret } from "./keychain.ts";
import { configFile, nonEmpty, type Environment } from "./config-place.ts";
import { readConfig, type Profile } from "./config.ts";
import { ProfileMissingError } from "./profile-missing.ts";
import { savedSession } from "./saved-session.ts";

/** Values of command-line flags; absent ones fall through to the environment and the profile. */
export interface SettingsFlags {
  /** The service's address. Default: `SERVICE_BASE_URL`, then the profile's. */
  readonly baseUrl?: string | undefined;
  /** The API key. Default: `SERVICE_API_KEY`, then the profile's. */
  readonly apiKey?: string | Secret | undefined;
  /** The profile's name. Default: `SERVICE_PROFILE`, then the file's default profile. */
  readonly profile?: string | undefined;
  /** Path of the configuration. Default: {@link configFile}. */
  readonly configFile?: string | undefined;
  /** Path of the network configuration. Default: `SERVICE_NETWORK_FILE`, then the profile's. */
  readonly networkFile?: string | undefined;
}

export type SettingSource = "flag" | "environment" | "profile" | "keychain";

/** Where some of the values came from; null when one is not set. */
export interface SettingSources {
  /** The source of the service's address. */
  readonly baseUrl: SettingSource | null;
  /** The source of the API key. */
  readonly apiKey: SettingSource | null;
  /** The source of the origins. */
  readonly contentOrigins: SettingSource | null;
}

export interface Settings {
  /** The service's address; null when nothing names it. */
  readonly baseUrl: string | null;
  /** The API key; null when nothing gives one. */
  readonly apiKey: Secret | null;
  /** The profile's web session, if there is no key. Like the key, it belongs to the profile's own origin. */
  readonly session: SessionCredentials | null;
  /** Opens shared vaults; no flag gives it, because others can see command lines. */
  readonly chainPrivateKey: Secret | null;
  /** Path of the network configuration that shared vaults need. */
  readonly networkFile: string | null;
  /** Origins of stores that the service may send downloads to, as `nodeTransport` takes them. */
  readonly contentOrigins: readonly string[];
  /** The profile's name; it need not exist when flags or environment give everything. */
  readonly profile: string;
  /** Path of the configuration that was read; it need not exist. */
  readonly configFile: string;
  /** Where the address and the key came from. */
  readonly sources: SettingSources;
}

/**
 * Base URL, key, chain key, network and origins of stores. A flag wins over the environment, and the environment over the profile. The
 * variables are `SERVICE_BASE_URL`, `SERVICE_API_KEY`, `SERVICE_PROFILE`, `SERVICE_CHAIN_PRIVATE_KEY`, `SERVICE_NETWORK_FILE` and
 * `SERVICE_CONTENT_ORIGINS`. A profile's key and content origins are used only with the origin of its own base URL: another service gets
 * neither.
 * @throws SdkError `profile_missing` for a named profile that does not exist; `configuration` for an unusable file.
 */
export async function resolveSettings(env: Environment = process.env, flags: SettingsFlags = {}): Promise<Settings> {
  const file = nonEmpty(flags.configFile) ?? configFile(env);
  const config = await readConfig(file);
  const named = nonEmpty(flags.profile) ?? nonEmpty(env["SERVICE_PROFILE"]);
  const profileName = named ?? config?.defaultProfile ?? "default";
  const profile =
    config !== null && Object.hasOwn(config.profiles, profileName) ? (config.profiles[profileName] ?? null) : null;
  if (named !== null && profile === null) throw new ProfileMissingError(named, file);
  const baseUrl = firstOf(flags.baseUrl, env["SERVICE_BASE_URL"], profile?.baseUrl);
  const flagKey = flags.apiKey instanceof Secret ? flags.apiKey.reveal() : flags.apiKey;
  const chainKey = keyOf(undefined, env["SERVICE_CHAIN_PRIVATE_KEY"], profile?.chainPrivateKey);
  const networkFile = firstOf(flags.networkFile, env["SERVICE_NETWORK_FILE"], profile?.networkFile ?? undefined);
  const isOwn = isOwnOrigin(profile, baseUrl.value);
  const ownKey = isOwn ? profile?.apiKey : null;
  const ownOrigins = isOwn ? profile?.contentOrigins?.join(" ") : undefined;
  const contentOrigins = firstOf(undefined, env["SERVICE_CONTENT_ORIGINS"], ownOrigins);
  const apiKey = keyOf(flagKey, env["SERVICE_API_KEY"], ownKey);
  return {
    baseUrl: baseUrl.value,
    apiKey: apiKey.value,
    session: apiKey.value === null && isOwn ? await savedSession(profileName, file) : null,
    chainPrivateKey: chainKey.value,
    networkFile: networkFile.value,
    contentOrigins: contentOriginsIn(contentOrigins.value ?? ""),
    profile: profileName,
    configFile: file,
    sources: { baseUrl: baseUrl.source, apiKey: apiKey.source, contentOrigins: contentOrigins.source },
  };
}

/** The origins of a text such as `SERVICE_CONTENT_ORIGINS`, with spaces or commas between them. They are not checked. */
export function contentOriginsIn(text: string): string[] {
  return text.split(/[\s,]+/).filter((origin) => origin !== "");
}

function firstOf(
  flag: string | undefined,
  environment: string | undefined,
  profile: string | undefined,
): { value: string | null; source: SettingSource | null } {
  const candidates = [
    ["flag", flag],
    ["environment", environment],
    ["profile", profile],
  ] as const;
  for (const [source, text] of candidates) {
    const value = nonEmpty(text);
    if (value !== null) return { value, source };
  }
  return { value: null, source: null };
}

/** A key of the keychain is not read here: the environment may give another, and a locked keychain asks its user. */
function keyOf(
  flag: string | undefined,
  environment: string | undefined,
  saved: Secret | null | undefined,
): { value: Secret | null; source: SettingSource | null } {
  const { value, source } = firstOf(flag, environment, undefined);
  if (value !== null) return { value: new Secret(value), source };
  if (saved instanceof KeychainSecret) return { value: saved, source: "keychain" };
  return saved == null || saved.reveal() === "" ? { value: null, source: null } : { value: saved, source: "profile" };
}

function isOwnOrigin(profile: Profile | null, baseUrl: string | null): boolean {
  if (profile === null || baseUrl === null) return false;
  const [own, used] = [URL.parse(profile.baseUrl), URL.parse(baseUrl)];
  return own !== null && used !== null && own.origin === used.origin;
}
