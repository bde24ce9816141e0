/** The account of a development stack: signed up once, its key kept in a file of config.json format. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { ApiError, createClient, Secret } from "@coffer/sdk";
import { readConfig, writeConfig } from "@coffer/sdk/node";

interface StackAccount {
  readonly apiKey: Secret;
  readonly credentialsFile: string;
  readonly isNew: boolean;
}

const PROFILE = "default";

/**
 * Takes the key kept in `directory` when the service still knows it, else signs up anew. The file names this base URL;
 * where another stack on the same data still answers under its own, this one writes a file of its own beside it.
 */
export async function ensureAccount(baseUrl: string, directory: string): Promise<StackAccount> {
  const usual = join(directory, "credentials.json");
  const profile = (await readConfig(usual))?.profiles[PROFILE] ?? null;
  const kept = profile?.apiKey ?? null;
  const isNew = kept === null || !(await isLive(baseUrl, kept));
  const apiKey = isNew ? await signUp(baseUrl) : kept;
  const shared = !isNew && profile !== null && profile.baseUrl !== baseUrl && (await answers(profile.baseUrl));
  const credentialsFile = shared ? join(directory, `credentials-${new URL(baseUrl).port}.json`) : usual;
  await writeConfig({ defaultProfile: PROFILE, profiles: { [PROFILE]: { baseUrl, apiKey } } }, credentialsFile);
  return { apiKey, credentialsFile, isNew };
}

async function answers(baseUrl: string): Promise<boolean> {
  try {
    return (await fetch(`${baseUrl}/healthz`, { signal: AbortSignal.timeout(1_000) })).ok;
  } catch {
    return false;
  }
}

async function isLive(baseUrl: string, apiKey: Secret): Promise<boolean> {
  try {
    await createClient({ baseUrl, credentials: apiKey }).account.get();
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return false;
    throw error;
  }
}

/** example.com is reserved (RFC 2606 §3): no mail to it ever reaches a person. */
async function signUp(baseUrl: string): Promise<Secret> {
  const client = createClient({ baseUrl, credentials: null });
  const { apiKey } = await client.development.signup({
    email: `owner-${randomUUID()}@example.com`,
    name: "Development owner",
  });
  return new Secret(apiKey);
}
