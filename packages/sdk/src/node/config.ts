import { chmod, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { describeIssues } from "@coffer/contract/issue-words";
import * as z from "zod/mini";
import { Secret } from "../secret.ts";
import { fileErrorCode, makePrivateDirectory, replaceFile } from "./durable-file.ts";
import { acquireLock } from "./lock-file.ts";
import { configurationError, type SdkError } from "../errors.ts";
import type { StoredSession } from "../session/state.ts";

/** One service and the credential for it: a key, a web session, or both (then the key wins). */
export interface Profile {
  /** The service's address. */
  readonly baseUrl: string;
  /** The API key; null when the profile has none. */
  readonly apiKey: Secret | null;
  /** The web session. Default: {@link writeConfig} leaves it unchanged; null removes it. */
  readonly session?: StoredSession | null | undefined;
  /** `suiprivkey1…`: opens shared vaults and never leaves this machine. Default: unchanged; null removes it. */
  readonly chainPrivateKey?: Secret | null | undefined;
  /** Path of the network configuration that shared vaults need. Default: unchanged; null removes it. */
  readonly networkFile?: string | null | undefined;
}

/** The content of config.json (version 1). */
export interface Config {
  /** The name of the profile that is used unless another one is named. */
  readonly defaultProfile: string;
  /** Profiles by name. */
  readonly profiles: Readonly<Record<string, Profile>>;
}

export interface ConfigChanges {
  /** Default: the one that the file names. */
  readonly defaultProfile?: string;
  /** Profiles by name; null removes one. Default: none is changed. */
  readonly profiles?: Readonly<Record<string, Profile | null>>;
}

export type Environment = Readonly<Record<string, string | undefined>>;

const LOCK_WAIT_MS = 5_000;
const profileName = z.string().check(z.regex(/^[\w.-]{1,64}$/, "Invalid profile name"));
const storedSession = z.looseObject({
  refreshToken: z.string().check(z.minLength(1)),
  accessToken: z.optional(z.string()),
  /** Milliseconds since the Unix epoch. */
  expiresAt: z.optional(z.number()),
  presented: z.optional(z.boolean()),
});
const storedProfile = z.looseObject({
  baseUrl: z.string(),
  apiKey: z.optional(z.string()),
  session: z.optional(storedSession),
  chainPrivateKey: z.optional(z.string()),
  networkFile: z.optional(z.string()),
});
/** Loose: fields of a later version survive a rewrite by this one. */
const storedConfig = z.looseObject({
  version: z.literal(1),
  defaultProfile: profileName,
  profiles: z.record(profileName, storedProfile),
});

type StoredConfig = z.infer<typeof storedConfig>;

/** The path of the configuration: `SERVICE_CONFIG_FILE`, else `config.json` in {@link configDirectory}. */
export function configFile(env: Environment = process.env): string {
  const file = present(env["SERVICE_CONFIG_FILE"]);
  return file === null ? join(configDirectory(env), "config.json") : resolve(file);
}

/** `SERVICE_CONFIG_DIR`, else `$XDG_CONFIG_HOME/coffer`, else `~/.config/coffer`. */
export function configDirectory(env: Environment = process.env): string {
  const own = present(env["SERVICE_CONFIG_DIR"]);
  if (own !== null) return resolve(own);
  const xdg = present(env["XDG_CONFIG_HOME"]);
  // The XDG base directory specification ignores relative paths.
  const parent = xdg?.startsWith("/") === true ? xdg : join(present(env["HOME"]) ?? homedir(), ".config");
  return join(parent, "coffer");
}

/**
 * The configuration; null when there is no file.
 * @throws SdkError `configuration` when the file holds something else. The error never shows its content.
 */
export async function readConfig(file: string = configFile()): Promise<Config | null> {
  const stored = await readStored(file);
  if (stored === null) return null;
  const profiles = Object.entries(stored.profiles).map(([name, profile]): [string, Profile] => [
    name,
    readProfile(profile),
  ]);
  return { defaultProfile: stored.defaultProfile, profiles: Object.fromEntries(profiles) };
}

function readProfile({ baseUrl, apiKey, session, chainPrivateKey, networkFile }: StoredProfile): Profile {
  return {
    baseUrl,
    apiKey: apiKey === undefined ? null : new Secret(apiKey),
    session: session === undefined ? null : readSession(session),
    chainPrivateKey: chainPrivateKey === undefined ? null : new Secret(chainPrivateKey),
    networkFile: networkFile ?? null,
  };
}

/**
 * Puts profiles into the file, under a lock and in one atomic replacement; other profiles and unknown fields stay. A
 * null profile is removed. Directory 0700, file 0600.
 */
export async function writeConfig(changes: ConfigChanges, file: string = configFile()): Promise<void> {
  await makePrivateDirectory(dirname(file));
  await using lock = await acquireLock(`${file}.lock`, LOCK_WAIT_MS);
  if (lock === null) throw configurationError("Another process keeps the configuration locked");
  const stored: StoredConfig = (await readStored(file)) ?? { version: 1, defaultProfile: "default", profiles: {} };
  const profiles = { ...stored.profiles };
  for (const [name, profile] of Object.entries(changes.profiles ?? {})) {
    if (profile === null) Reflect.deleteProperty(profiles, name);
    else profiles[name] = storeProfile(profiles[name], profile);
  }
  const next = { ...stored, defaultProfile: changes.defaultProfile ?? stored.defaultProfile, profiles };
  parseStored(next, file);
  await replaceFile(file, `${JSON.stringify(next, null, 2)}\n`);
  await chmod(file, 0o600);
}

type StoredProfile = StoredConfig["profiles"][string];

function storeProfile(former: StoredProfile | undefined, profile: Profile): StoredProfile {
  const { baseUrl, apiKey, session, chainPrivateKey, networkFile } = profile;
  const {
    apiKey: _replaced,
    session: formerSession,
    chainPrivateKey: formerKey,
    networkFile: formerFile,
    ...rest
  } = former ?? {};
  const next = session === undefined ? formerSession : session === null ? undefined : renderSession(session);
  const key = chainPrivateKey === undefined ? formerKey : chainPrivateKey?.reveal();
  const file = networkFile === undefined ? formerFile : (networkFile ?? undefined);
  return {
    ...rest,
    baseUrl,
    ...(apiKey === null ? {} : { apiKey: apiKey.reveal() }),
    ...(next === undefined ? {} : { session: next }),
    ...(key === undefined ? {} : { chainPrivateKey: key }),
    ...(file === undefined ? {} : { networkFile: file }),
  };
}

type StoredTokens = z.infer<typeof storedSession>;

function readSession({ refreshToken, accessToken, expiresAt, presented }: StoredTokens): StoredSession {
  return {
    refreshToken: new Secret(refreshToken),
    accessToken: accessToken === undefined ? null : new Secret(accessToken),
    expiresAt: expiresAt ?? null,
    presented: presented ?? false,
  };
}

function renderSession({ refreshToken, accessToken, expiresAt, presented }: StoredSession): StoredTokens {
  return {
    refreshToken: refreshToken.reveal(),
    ...(accessToken === null ? {} : { accessToken: accessToken.reveal() }),
    ...(expiresAt === null ? {} : { expiresAt }),
    ...(presented ? { presented } : {}),
  };
}

async function readStored(file: string): Promise<StoredConfig | null> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (fileErrorCode(error) === "ENOENT") return null;
    throw unreadable(file, fileErrorCode(error) ?? "unreadable");
  }
  try {
    return parseStored(JSON.parse(text), file);
  } catch (error) {
    // A JSON error quotes the text around it, which may be the key.
    if (error instanceof SyntaxError) throw unreadable(file, "not JSON");
    throw error;
  }
}

function parseStored(value: unknown, file: string): StoredConfig {
  const result = z.safeParse(storedConfig, value);
  if (result.success) return result.data;
  throw unreadable(file, describeIssues(result.error.issues, "config").join("; "));
}

function unreadable(file: string, why: string): SdkError {
  return configurationError(`The configuration ${file} cannot be used: ${why}`);
}

/** Set and not empty: an empty variable counts as unset. */
export function present(text: string | undefined): string | null {
  return text === undefined || text === "" ? null : text;
}
