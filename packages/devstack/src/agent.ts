/** The agent of a development stack: its own chain key, and an API key that it got by an invite. */
import { basename, dirname, join } from "node:path";
import { ApiError, chainKeySigner, createClient, Secret, type Client } from "@coffer/sdk";
import { readConfig, writeConfig } from "@coffer/sdk/node";
import { newChainKey, PROFILE } from "./account.ts";
import { openClientSide, type Stack } from "./stack.ts";

export interface StackAgent {
  readonly chainAddress: string;
  readonly client: Client;
  /** Format of config.json, mode 0600: the agent's API key and chain key. */
  readonly credentialsFile: string;
  /** It redeemed an invite just now; false: its key of an earlier run still holds. */
  readonly isNew: boolean;
}

export type AgentStack = Pick<Stack, "baseUrl" | "credentialsFile" | "dataDirectory" | "networkFile">;

/** 90 days. The next run after that invites the agent again. */
const KEY_LIFE_MS = 90 * 86_400_000;
/** Access ends at whole quarters of an hour. */
const QUARTER_MS = 900_000;

/**
 * Lets the agent of this stack into the account, for one vault. It uses the key of an earlier run if the service still
 * accepts it, else a fresh invite. Its chain key stays the same, and neither owner nor service ever sees it.
 */
export async function inviteAgent(stack: AgentStack, owner: Client, vaultId: string): Promise<StackAgent> {
  const credentialsFile = agentFile(stack.credentialsFile);
  const profile = (await readConfig(credentialsFile))?.profiles[PROFILE] ?? null;
  const chainPrivateKey = profile?.chainPrivateKey ?? (await newChainKey());
  const signer = await chainKeySigner(chainPrivateKey);
  const { baseUrl, networkFile } = stack;
  const keep = async (apiKey: Secret | null): Promise<void> => {
    const kept = { baseUrl, apiKey, chainPrivateKey, networkFile };
    await writeConfig({ defaultProfile: PROFILE, profiles: { [PROFILE]: kept } }, credentialsFile);
  };
  const known = profile?.apiKey ?? null;
  const isNew = known === null || !(await isGoodFor(known, { baseUrl, vaultId, chainAddress: signer.chainAddress }));
  // The chain key is kept before anything is bound to it.
  await keep(isNew ? null : known);
  const sharedVaults = await openClientSide(stack, "agent", chainPrivateKey);
  if (isNew) {
    const accessUntil = new Date(Math.ceil((Date.now() + KEY_LIFE_MS) / QUARTER_MS) * QUARTER_MS).toISOString();
    const wish = { name: "npm start's agent", vaultIds: [vaultId], expiresInHours: 1, accessUntil };
    const invite = await owner.invites.create(wish);
    const { key } = await createClient({ baseUrl, sharedVaults }).invites.redeem(invite.text, signer);
    await keep(new Secret(key));
  }
  const apiKey = (await readConfig(credentialsFile))?.profiles[PROFILE]?.apiKey ?? null;
  const client = createClient({ baseUrl, credentials: apiKey, sharedVaults });
  return { chainAddress: signer.chainAddress, client, credentialsFile, isNew };
}

/** Beside the owner's: where two stacks run on the same data, each has its own. */
export function agentFile(ownersFile: string): string {
  return join(dirname(ownersFile), basename(ownersFile).replace("credentials", "agent"));
}

interface Purpose {
  readonly baseUrl: string;
  readonly vaultId: string;
  readonly chainAddress: string;
}

async function isGoodFor(apiKey: Secret, { baseUrl, vaultId, chainAddress }: Purpose): Promise<boolean> {
  try {
    const { credential } = await createClient({ baseUrl, credentials: apiKey }).account.get();
    return credential.chainAddress === chainAddress && credential.vaultIds?.includes(vaultId) === true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return false;
    throw error;
  }
}
