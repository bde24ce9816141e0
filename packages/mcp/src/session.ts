/**
 * The link to the service: made when a tool first needs it, so that the server answers its client before the SDK is
 * loaded. Credentials are read; only a saved web session's new tokens are written. A 401 changes nothing on disk.
 */
import type { Client } from "@coffer/sdk";
import type { Settings } from "@coffer/sdk/node";
import { toFailure, ToolFailure } from "./failure.ts";
import type { Redaction } from "./redaction.ts";
import type { KnownAccess } from "./registry.ts";

/** How the server is set up, for `status_check`. No secrets. */
export interface SetupReport {
  readonly baseUrl: string | null;
  readonly configFile: string | null;
  /** The profile of the config file. */
  readonly configProfile: string | null;
  readonly keyFrom: string | null;
}

export interface Session {
  /** Throws ToolFailure `signed_out` when there is no key, SdkError `configuration` when the settings cannot be used. */
  client(): Promise<Client>;
  setup(): Promise<SetupReport>;
  /** What the key may do; `unknown` when the service does not tell within the time. */
  access(waitMs: number): Promise<KnownAccess>;
  /** Reads the settings anew before the next call: the user may have signed in again. */
  forget(): void;
}

export interface SessionOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly configFile: string | null;
  readonly redaction: Redaction;
  /** `name/version`, told to the service. */
  readonly application: string;
}

export function createSession(options: SessionOptions): Session {
  let opened: Promise<Client> | undefined;
  const session: Session = {
    client: () => {
      opened ??= openClient(options).catch((error: unknown) => {
        // What is missing now may be there at the next call.
        opened = undefined;
        throw error;
      });
      return opened;
    },
    setup: async () => reportOf(await readSettings(options)),
    access: (waitMs) => askAccess(session, waitMs),
    forget: () => {
      opened = undefined;
    },
  };
  return session;
}

/** A session over a client that exists already, for programs that embed the server. */
export function sessionOver(client: Client): Session {
  const session: Session = {
    client: () => Promise.resolve(client),
    setup: () =>
      Promise.resolve({ baseUrl: client.baseUrl, configFile: null, configProfile: null, keyFrom: "program" }),
    access: (waitMs) => askAccess(session, waitMs),
    forget: () => undefined,
  };
  return session;
}

async function readSettings({ env, configFile, redaction }: SessionOptions): Promise<Settings> {
  const { resolveSettings } = await import("@coffer/sdk/node");
  const settings = await resolveSettings(env, configFile === null ? {} : { configFile });
  redaction.register(settings.apiKey?.reveal());
  return settings;
}

/** Hosts commonly give a call 60 s: ours says what is wrong before they give up. */
const TIMEOUTS = { attemptMs: 15_000, totalMs: 45_000 };

async function openClient(options: SessionOptions): Promise<Client> {
  const settings = await readSettings(options);
  const credentials = settings.apiKey ?? settings.session;
  if (credentials === null) throw signedOut(settings);
  if (settings.baseUrl === null) {
    throw new ToolFailure("not_configured", {
      message: "There is a key, but no address of a service",
      nextStep: "Ask the user to set SERVICE_BASE_URL in this server's environment.",
    });
  }
  const { createClient } = await import("@coffer/sdk");
  return createClient({
    baseUrl: settings.baseUrl,
    credentials,
    application: options.application,
    timeouts: TIMEOUTS,
  });
}

function signedOut({ configFile, profile }: Settings): ToolFailure {
  return new ToolFailure("signed_out", {
    message: "Nobody is signed in: this server found no key",
    nextStep: `Ask the user to put a key into ${configFile} (profiles.${profile}.apiKey, with baseUrl), or to set SERVICE_API_KEY and SERVICE_BASE_URL in this server's environment. Then call again; never ask for the key itself.`,
  });
}

function reportOf({ baseUrl, configFile, profile, session, sources }: Settings): SetupReport {
  return {
    baseUrl,
    configFile,
    configProfile: profile,
    keyFrom: sources.apiKey ?? (session === null ? null : "profile (web session)"),
  };
}

async function askAccess(session: Session, waitMs: number): Promise<KnownAccess> {
  const timer = AbortSignal.timeout(waitMs);
  const late = new Promise<KnownAccess>((resolve) => {
    timer.addEventListener(
      "abort",
      () => {
        resolve("unknown");
      },
      { once: true },
    );
  });
  return await Promise.race([late, accessOf(session, timer)]);
}

async function accessOf(session: Session, signal: AbortSignal): Promise<KnownAccess> {
  let client;
  try {
    client = await session.client();
  } catch (error) {
    return toFailure(error).code === "signed_out" ? "none" : "unknown";
  }
  try {
    const { account } = await client.account.get({ signal });
    return account.accessLevel === "owner" ? "owner" : "agent";
  } catch {
    // A refused or unreachable key is not known to be an owner's; the first tool call says what is wrong.
    return "unknown";
  }
}
