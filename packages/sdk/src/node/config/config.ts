import { randomUUID } from "node:crypto";
import { chmod } from "node:fs/promises";
import { dirname } from "node:path";
import { describeIssues } from "@coffer/contract";
import * as z from "zod/mini";
import { Secret } from "../../http/secret.ts";
import { fileErrorCode, makePrivateDirectory, replaceFile } from "../store/durable-file.ts";
import { configFile } from "./config-place.ts";
import { readJsonFile } from "./json-file.ts";
import { acquireLock } from "../store/lock-file.ts";
import { configurationError, lockedError, type SdkError } from "../../http/errors.ts";
import { storeInKeychain, KeychainSecret, SYSTEM } from "./keychain.ts";
import { ProfileSessions, type ProfileSession } from "./profile-sessions.ts";
import type { StoredSession } from "../../connection/web-session.ts";

/** One service and the credential for it: a key, a web session, or both (then the key wins). */
export interface Profile {
  /** The service's address. */
  readonly baseUrl: string;
  /** The API key; null when the profile has none. */
  readonly apiKey: Secret | null;
  /**
   * The web session, which is in the profile store beside the file, for the origin of `baseUrl` alone. Default:
   * {@link writeConfig} leaves it unchanged; null removes it.
   */
  readonly session?: StoredSession | null | undefined;
  /** `suiprivkey1…`: opens shared vaults and never leaves this machine. Default: unchanged; null removes it. */
  readonly chainPrivateKey?: Secret | null | undefined;
  /** Path of the network configuration that shared vaults need. Default: unchanged; null removes it. */
  readonly networkFile?: string | null | undefined;
  /**
   * Origins of stores that this service may send downloads to, as `nodeTransport` takes them. Default: unchanged; an empty list and null
   * remove them.
   */
  readonly contentOrigins?: readonly string[] | null | undefined;
  /**
   * How agents get the command line, for texts that invite them: the address of `coffer.mjs` with `#sha256=` and its digest, its path on
   * this machine, or a line that installs it. Default: unchanged; null removes it.
   */
  readonly installLine?: string | null | undefined;
  /**
   * Where the API key and the chain key are kept; another value than before moves them. The system's keychain needs the
   * package `@napi-rs/keyring`. Default: unchanged, and the file in a new profile.
   */
  readonly keyStore?: KeyStore | undefined;
}

/** The file with mode 0600, or the keychain of the system. */
export type KeyStore = "file" | "keychain";

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
  /** The keychain is gone for good: what cannot be deleted there stays. Default: such a change fails. */
  readonly keychainIsLost?: boolean;
}

const LOCK_WAIT_MS = 5_000;
const profileName = z.string().check(z.regex(/^[\w.][\w.-]{0,63}$/, "Invalid profile name"));
const keyName = z.enum(["apiKey", "chainPrivateKey"]);
const storedProfile = z.looseObject({
  baseUrl: z.string(),
  apiKey: z.optional(z.string()),
  chainPrivateKey: z.optional(z.string()),
  /** The profile keeps its keys in the system's keychain; `keys` names those that are there. */
  keychain: z.optional(z.looseObject({ id: z.string().check(z.minLength(1)), keys: z.array(keyName) })),
  networkFile: z.optional(z.string()),
  contentOrigins: z.optional(z.array(z.string())),
  installLine: z.optional(z.string()),
});
/** Loose: fields of a later version survive a rewrite by this one. */
const storedConfig = z.looseObject({
  version: z.literal(1),
  defaultProfile: profileName,
  profiles: z.record(profileName, storedProfile),
});

type StoredConfig = z.infer<typeof storedConfig>;

/**
 * The configuration; null when there is no file.
 * @throws SdkError `configuration` when the file holds something else. The error never shows its content.
 */
export async function readConfig(file: string = configFile()): Promise<Config | null> {
  const stored = await readStored(file);
  if (stored === null) return null;
  const sessionOf = await new ProfileSessions(file).reader();
  const profiles = Object.entries(stored.profiles).map(([name, profile]): [string, Profile] => [
    name,
    { ...readProfile(name, profile), session: sessionOf(name, profile.baseUrl) },
  ]);
  return { defaultProfile: stored.defaultProfile, profiles: Object.fromEntries(profiles) };
}

function readProfile(name: string, stored: StoredProfile): Profile {
  const { baseUrl, networkFile, contentOrigins, installLine, keychain } = stored;
  return {
    baseUrl,
    apiKey: readKey(name, stored, "apiKey"),
    chainPrivateKey: readKey(name, stored, "chainPrivateKey"),
    networkFile: networkFile ?? null,
    contentOrigins: contentOrigins ?? null,
    installLine: installLine ?? null,
    keyStore: keychain === undefined ? "file" : "keychain",
  };
}

/** What the file has wins: a move was cut off before the keychain's copy counted, or after it ceased to. */
function readKey(name: string, stored: StoredProfile, key: KeyName): Secret | null {
  const { keychain, [key]: text } = stored;
  if (text !== undefined) return new Secret(text);
  return keychain?.keys.includes(key) === true ? new KeychainSecret(accountOf(name, keychain, key)) : null;
}

/** As programs that show a keychain list it. The id keeps apart what has the same name in two configurations. */
const accountOf = (name: string, { id }: StoredKeychain, key: KeyName): string => `${name}/${key}/${id}`;

/**
 * Puts profiles into the file, under a lock and in one atomic replacement; other profiles and unknown fields stay. A
 * null profile is removed. Directory 0700, file 0600. Keys of a profile whose `keyStore` is the keychain go there.
 */
export async function writeConfig(changes: ConfigChanges, file: string = configFile()): Promise<void> {
  await makePrivateDirectory(dirname(file));
  await using lock = await acquireLock(`${file}.lock`, LOCK_WAIT_MS);
  if (lock === null) throw lockedError("Another process keeps the configuration locked");
  const stored: StoredConfig = (await readStored(file)) ?? { version: 1, defaultProfile: "default", profiles: {} };
  const moves = Object.entries(changes.profiles ?? {}).map(([name, profile]) =>
    moveOf(name, stored.profiles[name], profile),
  );
  const write = async (at: "first" | "next" | "last"): Promise<void> => {
    const profiles = { ...stored.profiles };
    for (const { name, [at]: profile } of moves) {
      if (profile === undefined) Reflect.deleteProperty(profiles, name);
      else profiles[name] = profile;
    }
    const next = { ...stored, defaultProfile: changes.defaultProfile ?? stored.defaultProfile, profiles };
    parseStored(next, file);
    await replaceFile(file, `${JSON.stringify(next, null, 2)}\n`);
    await chmod(file, 0o600);
  };
  const sessions = new ProfileSessions(file);
  const changed = sessionsIn(changes);
  // One that goes is gone first. One that comes needs its profile: if there is no room for it, nobody is half signed in.
  await sessions.write(changed.filter(([, session]) => session === null));
  // At every moment a key is where the file says, and the file names what the keychain may have.
  if (moves.some(({ first, former }) => first !== former)) await write("first");
  for (const { puts } of moves) for (const [account, secret] of puts) storeInKeychain(account, secret);
  await write("next");
  for (const { drops } of moves) for (const account of drops) dropKey(account, changes.keychainIsLost === true);
  if (moves.some(({ next, last }) => next !== last)) await write("last");
  await sessions.write(changed.filter(([, session]) => session !== null));
}

/** Sessions that the changes name; a removed profile loses its own. */
function sessionsIn({ profiles = {} }: ConfigChanges): readonly ProfileSession[] {
  return Object.entries(profiles).flatMap(([name, profile]): ProfileSession[] => {
    if (profile === null || profile.session === null) return [[name, null]];
    const { baseUrl, session } = profile;
    return session === undefined ? [] : [[name, { baseUrl, session }]];
  });
}

function dropKey(account: string, isLost: boolean): void {
  try {
    SYSTEM.open().delete(account);
  } catch (error) {
    if (!isLost) throw error;
  }
}

/** A profile before its keys are put into the keychain, once they are there, and when none is left there that does not count. */
interface Move {
  readonly name: string;
  readonly former: StoredProfile | undefined;
  readonly first: StoredProfile | undefined;
  readonly puts: readonly (readonly [account: string, secret: Secret])[];
  readonly next: StoredProfile | undefined;
  readonly drops: readonly string[];
  readonly last: StoredProfile | undefined;
}

function moveOf(name: string, former: StoredProfile | undefined, profile: Profile | null): Move {
  const held = former?.keychain;
  const accountsOf = (keychain: StoredKeychain, keys: readonly KeyName[]): string[] =>
    keys.map((key) => accountOf(name, keychain, key));
  if (profile === null) {
    const drops = held === undefined ? [] : accountsOf(held, KEY_NAMES);
    return { name, former, first: former, puts: [], drops, next: undefined, last: undefined };
  }
  const rest = storeProfile(former, profile);
  const keys = {
    apiKey: profile.apiKey,
    chainPrivateKey:
      profile.chainPrivateKey === undefined && former !== undefined
        ? readKey(name, former, "chainPrivateKey")
        : (profile.chainPrivateKey ?? null),
  };
  const given = KEY_NAMES.flatMap((key) => (keys[key] === null ? [] : [[key, keys[key]] as const]));
  if ((profile.keyStore ?? (held === undefined ? "file" : "keychain")) === "file") {
    const last = { ...rest, ...Object.fromEntries(given.map(([key, secret]) => [key, secret.reveal()])) };
    if (held === undefined) return { name, former, first: former, puts: [], drops: [], next: last, last };
    const next = { ...last, keychain: { ...held, keys: [] } };
    return { name, former, first: former, puts: [], next, last, drops: accountsOf(held, KEY_NAMES) };
  }
  const keychain = { id: held?.id ?? randomUUID(), ...held, keys: given.map(([key]) => key) };
  const first =
    former === undefined || held !== undefined ? former : { ...former, keychain: { ...keychain, keys: [] } };
  const puts = given
    .map(([key, secret]) => [accountOf(name, keychain, key), secret] as const)
    .filter(([account, secret]) => !(secret instanceof KeychainSecret && secret.account === account));
  const next = { ...rest, keychain };
  const drops = accountsOf(
    keychain,
    (held?.keys ?? []).filter((key) => keys[key] === null),
  );
  return { name, former, first, puts, next, drops, last: next };
}

type StoredProfile = StoredConfig["profiles"][string];
type StoredKeychain = NonNullable<StoredProfile["keychain"]>;
type KeyName = z.infer<typeof keyName>;
const KEY_NAMES = keyName.options;

/** All of it but the keys. */
function storeProfile(former: StoredProfile | undefined, profile: Profile): StoredProfile {
  const { baseUrl, networkFile, contentOrigins, installLine } = profile;
  const {
    apiKey: _replaced,
    chainPrivateKey: _alsoReplaced,
    keychain: _moved,
    networkFile: formerFile,
    contentOrigins: formerOrigins,
    installLine: formerInstallLine,
    ...rest
  } = former ?? {};
  const file = networkFile === undefined ? formerFile : (networkFile ?? undefined);
  const install = installLine === undefined ? formerInstallLine : (installLine ?? undefined);
  const origins = (contentOrigins === undefined ? formerOrigins : contentOrigins) ?? [];
  return {
    ...rest,
    baseUrl,
    ...(file === undefined ? {} : { networkFile: file }),
    ...(origins.length === 0 ? {} : { contentOrigins: [...origins] }),
    ...(install === undefined ? {} : { installLine: install }),
  };
}

async function readStored(file: string): Promise<StoredConfig | null> {
  let value: unknown;
  try {
    value = await readJsonFile(file);
  } catch (error) {
    if (fileErrorCode(error) === "ENOENT") return null;
    // A JSON error quotes the text around it, which may be the key.
    throw unreadable(file, error instanceof SyntaxError ? "not JSON" : (fileErrorCode(error) ?? "unreadable"));
  }
  return parseStored(value, file);
}

function parseStored(value: unknown, file: string): StoredConfig {
  const result = z.safeParse(storedConfig, value);
  if (result.success) return result.data;
  throw unreadable(file, describeIssues(result.error.issues, "config").join("; "));
}

function unreadable(file: string, why: string): SdkError {
  return configurationError(`The configuration ${file} cannot be used: ${why}`);
}
