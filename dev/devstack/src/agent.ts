/** Agents of a development stack: each has its own chain key, an API key that it got by an invite, and one vault of the owner. */
import { basename, dirname, join } from "node:path";
import { ApiError, chainKeySigner, createClient, Secret, type Client, type Vault } from "@coffer/sdk";
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

/** The user's agent is a member of the user's vault for as long as its key lives. The other one is of the demonstration, which removes it. */
export type AgentName = "agent" | "demonstration";

const LABELS: Readonly<Record<AgentName, string>> = {
  agent: "npm start's agent",
  demonstration: "npm start's demonstration",
};

export type AgentStack = Pick<Stack, "baseUrl" | "credentialsFile" | "dataDirectory" | "networkFile">;

/** 90 days. The next run after that invites the agent again. */
const KEY_LIFE_MS = 90 * 86_400_000;
/** Access ends at whole quarters of an hour. */
const QUARTER_MS = 900_000;

/**
 * Lets an agent of this stack into the account, for one vault. It uses the key of an earlier run if the service still
 * accepts it, else a fresh invite. Its chain key stays the same, and neither owner nor service ever sees it.
 */
export async function inviteAgent(
  stack: AgentStack,
  owner: Client,
  name: AgentName,
  vaultId: string,
): Promise<StackAgent> {
  const credentialsFile = agentFile(stack.credentialsFile, name);
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
  const sharedVaults = await openClientSide(stack, name, chainPrivateKey);
  if (isNew) {
    const accessUntil = endOfAccess().toISOString();
    const wish = { name: LABELS[name], vaultIds: [vaultId], expiresInHours: 1, accessUntil };
    const invite = await owner.invites.create(wish);
    const { key } = await createClient({ baseUrl, sharedVaults }).invites.redeem(invite.text, signer);
    await keep(new Secret(key));
  }
  const apiKey = (await readConfig(credentialsFile))?.profiles[PROFILE]?.apiKey ?? null;
  const client = createClient({ baseUrl, credentials: apiKey, sharedVaults });
  return { chainAddress: signer.chainAddress, client, credentialsFile, isNew };
}

const USERS_VAULT = "My files";

export interface UsersAgent extends StackAgent {
  /** The vault that it is a member of. */
  readonly vaultId: string;
}

/** The user's own vault and agent: what the printed configuration starts. Both are there again in every run on the same data. */
export async function openUsersAgent(stack: AgentStack, owner: Client): Promise<UsersAgent> {
  const vault = await findOrMakeVault(owner, USERS_VAULT);
  const agent = await inviteAgent(stack, owner, "agent", vault.id);
  const members = (await owner.vaults.members.list(vault.id)).items;
  const isMember = members.some(
    ({ chainAddress, endsAt }) =>
      chainAddress === agent.chainAddress && (endsAt === null || Date.parse(endsAt) > Date.now()),
  );
  // A key of an earlier run may have been invited without its membership: that run was stopped in between.
  if (!isMember)
    await owner.vaults.members.add(vault.id, agent.chainAddress, { label: LABELS.agent, until: endOfAccess() });
  return { ...agent, vaultId: vault.id };
}

function endOfAccess(): Date {
  return new Date(Math.ceil((Date.now() + KEY_LIFE_MS) / QUARTER_MS) * QUARTER_MS);
}

/** The owner's shared vault of that name. */
export async function findOrMakeVault(owner: Client, name: string): Promise<Vault> {
  const known = await findVault(owner, name);
  if (known !== null) return known;
  try {
    return await owner.vaults.create({ name, type: "shared" });
  } catch (error) {
    // Another stack on the same data was faster.
    const made = error instanceof ApiError && error.code === "name_exists" ? await findVault(owner, name) : null;
    if (made === null) throw error;
    return made;
  }
}

async function findVault(owner: Client, name: string): Promise<Vault | null> {
  for await (const vault of owner.vaults.list({ type: "shared" })) if (vault.name === name) return vault;
  return null;
}

/** Beside the owner's: where two stacks run on the same data, each has its own. */
export function agentFile(ownersFile: string, name: AgentName = "agent"): string {
  return join(dirname(ownersFile), basename(ownersFile).replace("credentials", name));
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
