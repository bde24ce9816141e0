/** The account of a development stack: signed up once, its key kept in a file of config.json format. */
import { randomUUID } from "node:crypto";
import { ApiError, createClient, Secret } from "@coffer/sdk";
import { readConfig, writeConfig } from "@coffer/sdk/node";

interface StackAccount {
  readonly apiKey: Secret;
  readonly credentialsFile: string;
  readonly isNew: boolean;
}

const PROFILE = "default";

/** Takes the kept key when the service still knows it, else signs up anew. The file always names this base URL. */
export async function ensureAccount(baseUrl: string, credentialsFile: string): Promise<StackAccount> {
  const kept = (await readConfig(credentialsFile))?.profiles[PROFILE]?.apiKey ?? null;
  const isNew = kept === null || !(await isLive(baseUrl, kept));
  const apiKey = isNew ? await signUp(baseUrl) : kept;
  await writeConfig({ defaultProfile: PROFILE, profiles: { [PROFILE]: { baseUrl, apiKey } } }, credentialsFile);
  return { apiKey, credentialsFile, isNew };
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
