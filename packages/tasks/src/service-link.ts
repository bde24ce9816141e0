/**
 * The link to the service: made when a tool first needs it, so that the server answers its client before the SDK is
 * loaded. Credentials are read; only a saved web session's new tokens are written. A 401 changes nothing on disk.
 */
import type { Client, Middleware, SharedVaults } from "@coffer/sdk";
import type { NetworkCheck } from "@coffer/sdk/shared";
import type { Settings, SettingsFlags } from "@coffer/sdk/node";
import { stat } from "node:fs/promises";
import { TaskFailure } from "./failure.ts";
import type { Redaction } from "./redaction.ts";

export interface ServiceLink {
  /** Throws TaskFailure `signed_out` when there is no key, SdkError `configuration` when the settings cannot be used. */
  client(): Promise<Client>;
  setup(): Promise<SetupReport>;
  /** Whether chain and key servers answer; null where there is no chain key or no network. Throws SdkError `configuration`. */
  network(): Promise<NetworkCheck | null>;
  /** This server's own address on the chain; null where it has no chain key. Never rejects. */
  chainAddress(): Promise<string | null>;
  /**
   * Reads the settings anew before the next call: the user may have signed in again. Overwrites the vault keys of the
   * client so far.
   */
  reset(): void;
}

export interface ServiceLinkOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly configFile: string | null;
  /** What a command's flags say; they win over the environment. Default: nothing. */
  readonly flags?: Pick<SettingsFlags, "baseUrl" | "profile">;
  readonly redaction: Redaction;
  /** `name/version`, sent to the service. */
  readonly application: string;
  /** Told once of each operation that the service will end. Default: a warning of the process. */
  readonly warn?: (message: string) => void;
}

/** The client is opened when somebody first needs it. */
export function createServiceLink(options: ServiceLinkOptions): ServiceLink {
  return new LazyServiceLink(options);
}

class LazyServiceLink implements ServiceLink {
  readonly #options: ServiceLinkOptions;
  #opened: Promise<OpenedClient> | undefined;

  constructor(options: ServiceLinkOptions) {
    this.#options = options;
  }

  async client(): Promise<Client> {
    return (await this.#open()).client;
  }

  async setup(): Promise<SetupReport> {
    return reportOf(await readSettings(this.#options));
  }

  async network(): Promise<NetworkCheck | null> {
    const vaults = await openVaults(await readSettings(this.#options), { env: this.#options.env });
    return vaults === null ? null : await (await import("@coffer/sdk/shared")).checkNetwork(vaults);
  }

  async chainAddress(): Promise<string | null> {
    return (await this.#opened?.catch(() => undefined))?.sharedVaults?.signer.chainAddress ?? null;
  }

  reset(): void {
    const former = this.#opened;
    this.#opened = undefined;
    void former?.then(({ client }) => overwriteKeys(client)).catch(() => undefined);
  }

  #open(): Promise<OpenedClient> {
    this.#opened ??= openClient(this.#options).catch((error: unknown) => {
      // What is missing now may be there at the next call.
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }
}

/** A link over a client that exists already, for programs that embed the server; `chainAddress` of one that opens shared vaults. */
export function serviceLinkOver(client: Client, chainAddress: string | null = null): ServiceLink {
  const { baseUrl } = client;
  const sharedVaults = chainAddress === null ? "not set up" : "ready";
  const report = { baseUrl, configFile: null, configProfile: null, keyFrom: "program", sharedVaults } as const;
  return {
    client: () => Promise.resolve(client),
    setup: () => Promise.resolve(report),
    network: () => Promise.resolve(null),
    chainAddress: () => Promise.resolve(chainAddress),
    reset: () => void overwriteKeys(client),
  };
}

/** The SDK is loaded: there is a client. */
async function overwriteKeys(client: Client): Promise<void> {
  const { forgetKeys } = await import("@coffer/sdk");
  forgetKeys(client);
}

interface OpenedClient {
  readonly client: Client;
  readonly sharedVaults: SharedVaults | null;
}

async function readSettings({ env, configFile, redaction, flags }: ServiceLinkOptions): Promise<Settings> {
  const { resolveSettings } = await import("@coffer/sdk/node");
  const settings = await resolveSettings(env, configFile === null ? { ...flags } : { ...flags, configFile });
  await refuseExposed(settings.configFile);
  for (const secret of [settings.apiKey, settings.chainPrivateKey]) redaction.register(secret?.reveal());
  if (settings.session !== null) await registerSession(settings, redaction);
  return settings;
}

/** The tokens of a web session as they are in the file now. */
async function registerSession({ configFile, profile }: Settings, redaction: Redaction): Promise<void> {
  const { readConfig } = await import("@coffer/sdk/node");
  const session = (await readConfig(configFile))?.profiles[profile]?.session;
  for (const token of [session?.accessToken, session?.refreshToken]) redaction.register(token?.reveal());
}

/** A new pair of tokens is in the file before its first use. */
function watchTokens(settings: Settings, redaction: Redaction): Middleware[] {
  if (settings.apiKey !== null || settings.session === null) return [];
  let lastBearer: string | null = null;
  const watch: Middleware = async (request, next) => {
    const bearer = request.headers.get("authorization");
    if (bearer !== lastBearer) await registerSession(settings, redaction);
    lastBearer = bearer;
    return await next(request);
  };
  return [watch];
}

export async function middlewareOf(
  settings: Settings,
  { redaction, warn }: { readonly redaction: Redaction; readonly warn?: ServiceLinkOptions["warn"] },
): Promise<Middleware[]> {
  const { deprecationWarnings } = await import("@coffer/sdk/node");
  return [...watchTokens(settings, redaction), deprecationWarnings(warn)];
}

/** Keys that others of this machine can read are no secrets. Windows has no such modes. */
async function refuseExposed(file: string): Promise<void> {
  if (process.platform === "win32") return;
  const stats = await stat(file).catch(() => null);
  if (stats === null || (stats.mode & 0o077) === 0) return;
  throw new TaskFailure("not_configured", {
    message: "Other users of this machine can read the settings file with its keys",
    nextStep: `Ask the user to run: chmod 600 ${JSON.stringify(file)}. Then call again.`,
  });
}

/** Hosts commonly give a call 60 s: ours says what is wrong before they give up. */
export const TIMEOUTS = { attemptMs: 15_000, totalMs: 45_000 };

async function openClient(options: ServiceLinkOptions): Promise<OpenedClient> {
  const settings = await usableSettings(options);
  const sharedVaults = await openVaults(settings, options);
  return { client: await connect(settings, options, sharedVaults), sharedVaults };
}

type UsableSettings = Settings & {
  readonly baseUrl: string;
  readonly credentials: NonNullable<Settings["apiKey"] | Settings["session"]>;
};

async function usableSettings(options: ServiceLinkOptions): Promise<UsableSettings> {
  const settings = await readSettings(options);
  const credentials = settings.apiKey ?? settings.session;
  if (credentials === null) throw signedOut(settings);
  const { baseUrl } = settings;
  if (baseUrl === null) {
    throw new TaskFailure("not_configured", {
      message: "There is a key, but no address of a service",
      nextStep: "Ask the user to set SERVICE_BASE_URL in this server's environment.",
    });
  }
  return { ...settings, baseUrl, credentials };
}

/** With one of the two alone, public vaults work as they do without both; what needs the other says so. */
async function openVaults(settings: Settings, { env }: Pick<ServiceLinkOptions, "env">): Promise<SharedVaults | null> {
  if (readiness(settings) !== "ready") return null;
  const { fileStore, openSharedVaults, storeDirectory } = await import("@coffer/sdk/node");
  return await openSharedVaults(settings, fileStore(storeDirectory(env)));
}

async function connect(
  settings: UsableSettings,
  { application, redaction, warn }: ServiceLinkOptions,
  sharedVaults: SharedVaults | null,
): Promise<Client> {
  const [{ createClient }, { nodeTransport }] = await Promise.all([import("@coffer/sdk"), import("@coffer/sdk/node")]);
  const middleware = await middlewareOf(settings, { redaction, warn });
  const { baseUrl, credentials, contentOrigins } = settings;
  return createClient({
    baseUrl,
    credentials,
    application,
    timeouts: TIMEOUTS,
    middleware,
    transport: nodeTransport({ contentOrigins }),
    ...(sharedVaults === null ? {} : { sharedVaults }),
  });
}

function signedOut({ configFile, profile }: Settings): TaskFailure {
  return new TaskFailure("signed_out", {
    message: "Nobody is signed in: this server found no key",
    nextStep: `Ask the user to put a key into ${configFile} (profiles.${profile}.apiKey, with baseUrl), or to set SERVICE_API_KEY and SERVICE_BASE_URL in this server's environment. Then call again; never ask for the key itself.`,
  });
}

function readiness({ chainPrivateKey, networkFile }: Settings): SetupReport["sharedVaults"] {
  if (chainPrivateKey === null) return networkFile === null ? "not set up" : "no chain key";
  return networkFile === null ? "no network file" : "ready";
}

/**
 * The kind of a new vault for which nobody named one: shared where this machine has a chain key.
 * @throws TaskFailure `shared_vault` where it has one and cannot make a shared vault: no public one takes its place.
 */
export function defaultVaultType({ sharedVaults }: SetupReport): "public" | "shared" {
  if (sharedVaults === "no network file")
    throw new TaskFailure("shared_vault", {
      message: "There is a chain key, and no network file, so no shared vault can be made",
    });
  return sharedVaults === "ready" ? "shared" : "public";
}

function reportOf(settings: Settings): SetupReport {
  const { baseUrl, configFile, profile, session, sources } = settings;
  return {
    sharedVaults: readiness(settings),
    baseUrl,
    configFile,
    configProfile: profile,
    keyFrom: sources.apiKey ?? (session === null ? null : "profile (web session)"),
  };
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
