/** The account of a development stack: signed up once, its keys kept in a file of config.json format. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, chainKeySigner, createClient, generateChainKey, Secret } from "@coffer/sdk";
import { readConfig, writeConfig } from "@coffer/sdk/node";

interface StackAccount {
  readonly apiKey: Secret;
  /** Owns the account's shared vaults. */
  readonly chainPrivateKey: Secret;
  readonly credentialsFile: string;
  readonly isNew: boolean;
}

export interface AccountPlace {
  readonly baseUrl: string;
  readonly dataDirectory: string;
  readonly networkFile: string;
  /** Another stack has the chain of this data: it makes the account, if there is none yet. */
  readonly borrowed: boolean;
}

export const PROFILE = "default";

/** How long a stack waits for the account that another one is making, in milliseconds. */
const PATIENCE = 10_000;
const BETWEEN_LOOKS = 100;

/**
 * Uses the key in the data directory if the service still accepts it, else signs up again. The account is linked to
 * the chain address of the chain key in that directory. The file names this base URL. If another stack on the same
 * data still answers under its own URL, this one writes a file of its own beside it.
 */
export async function ensureAccount({
  baseUrl,
  dataDirectory,
  networkFile,
  borrowed,
}: AccountPlace): Promise<StackAccount> {
  const usual = join(dataDirectory, "credentials.json");
  const profile = await readProfile(usual, borrowed ? PATIENCE : 0);
  const kept = profile?.apiKey ?? null;
  const isNew = kept === null || !(await isLive(baseUrl, kept));
  const apiKey = isNew ? await signUp(baseUrl) : kept;
  const chainPrivateKey = profile?.chainPrivateKey ?? (await newChainKey());
  const shared = !isNew && profile !== null && profile.baseUrl !== baseUrl && (await answers(profile.baseUrl));
  const credentialsFile = shared ? join(dataDirectory, `credentials-${new URL(baseUrl).port}.json`) : usual;
  const written = { baseUrl, apiKey, chainPrivateKey, networkFile };
  await writeConfig({ defaultProfile: PROFILE, profiles: { [PROFILE]: written } }, credentialsFile);
  await linkAddress(baseUrl, apiKey, chainPrivateKey);
  return { apiKey, chainPrivateKey, credentialsFile, isNew };
}

type Profiles = NonNullable<Awaited<ReturnType<typeof readConfig>>>["profiles"];

async function readProfile(file: string, patience: number): Promise<Profiles[string] | null> {
  for (const began = performance.now(); ; await sleep(BETWEEN_LOOKS)) {
    const profile = (await readConfig(file))?.profiles[PROFILE] ?? null;
    if (profile !== null || performance.now() - began >= patience) return profile;
  }
}

export async function newChainKey(): Promise<Secret> {
  return (await generateChainKey()).privateKey;
}

async function linkAddress(baseUrl: string, apiKey: Secret, chainPrivateKey: Secret): Promise<void> {
  const signer = await chainKeySigner(chainPrivateKey);
  const client = createClient({ baseUrl, credentials: apiKey });
  const { account } = await client.account.get();
  if (account.chainAddress !== signer.chainAddress) await client.account.linkChain(signer);
}

/** Whether a service is there. */
export async function answers(baseUrl: string): Promise<boolean> {
  try {
    return (await fetch(`${baseUrl}/healthz`, { signal: AbortSignal.timeout(1_000) })).ok;
  } catch {
    return false;
  }
}

/** Whether the service takes the key. */
export async function isLive(baseUrl: string, apiKey: Secret): Promise<boolean> {
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
