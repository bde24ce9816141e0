/** Agents of an account: their keys, the vaults that they are in, and those that an invite meant them for. */
import type { ApiKey, Client, Invite } from "@coffer/sdk";
import { dropSecretFile, readSecretFile } from "./secret-file.ts";
import type { Task } from "./task.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface Agent {
  readonly key: ApiKey;
  /** The used invite that made its key; null: there is none in the list. */
  readonly invite: Invite | null;
  /** Shared vaults whose allowlist on the chain names its address. */
  readonly memberOf: readonly string[];
  /** Shared vaults that its invite names, and that it is no member of. */
  readonly waitsFor: readonly string[];
}

/** Agents whose keys count, or all of them. */
export async function listAgents(task: Task, withEnded: boolean, now: number = Date.now()): Promise<Agent[]> {
  const client = await task.client();
  const keys = await agentKeys(client, task, withEnded ? null : now);
  const invites = await usedInvites(client, task);
  const members = await membersByVault(client, task);
  return keys.map((key) => {
    const invite = invites.get(key.id) ?? null;
    const memberOf = [...members].flatMap(([vaultId, addresses]) =>
      key.chainAddress !== null && addresses.has(key.chainAddress) ? [vaultId] : [],
    );
    const meant = invite?.vaultIds ?? [];
    const isLive = key.revokedAt === null;
    const waitsFor = meant.filter((vaultId) => isLive && members.has(vaultId) && !memberOf.includes(vaultId));
    return { key, invite, memberOf, waitsFor };
  });
}

async function agentKeys(client: Client, { signal }: Task, now: number | null): Promise<ApiKey[]> {
  const keys: ApiKey[] = [];
  for await (const key of client.apiKeys.list({ limit: 1000 }, { signal })) {
    const isEnded = key.revokedAt !== null || (key.expiresAt !== null && Date.parse(key.expiresAt) <= (now ?? 0));
    if (key.accessLevel === "agent" && (now === null || !isEnded)) keys.push(key);
  }
  return keys;
}

async function usedInvites(client: Client, { signal }: Task): Promise<Map<string, Invite>> {
  const used = new Map<string, Invite>();
  for await (const invite of client.invites.list({ limit: 1000 }, { signal }))
    if (invite.keyId !== null) used.set(invite.keyId, invite);
  return used;
}

/** Addresses that the chain names, by the account's shared vault. */
async function membersByVault(client: Client, { signal }: Task): Promise<Map<string, ReadonlySet<string>>> {
  const vaults = new Map<string, ReadonlySet<string>>();
  for await (const { id } of client.vaults.list({ type: "shared", limit: 1000 }, { signal })) {
    const members = await client.vaults.members.list(id, { signal });
    const active = members.filter(({ layers }) => layers.chain === "active");
    vaults.set(id, new Set(active.map(({ chainAddress }) => chainAddress)));
  }
  return vaults;
}

/** What became of letting an agent in. `no_proof`: nothing here proves that the address is the agent's own. */
export interface LetIn {
  readonly keyId: string;
  readonly chainAddress: string | null;
  readonly vaultId: string;
  readonly outcome: "added" | "no_proof";
}

/**
 * Adds the agent to the vaults of its invite. The invite's secret, which this machine kept when it made the invite,
 * proves the agent's address: the service cannot put in one of its own. Safe to repeat.
 */
export async function letIn(task: Task, env: Environment, { key, invite, waitsFor }: Agent): Promise<LetIn[]> {
  const client = await task.client();
  const text = invite === null ? null : await readSecretFile(env, inviteFile(invite.id));
  const facts = { keyId: key.id, chainAddress: key.chainAddress };
  if (text === null) return waitsFor.map((vaultId) => ({ ...facts, vaultId, outcome: "no_proof" }));
  const done: LetIn[] = [];
  for (const vaultId of waitsFor) {
    await client.vaults.members.add(vaultId, { invite: text }, { label: key.name, signal: task.signal });
    done.push({ ...facts, vaultId, outcome: "added" });
  }
  if (invite !== null) await dropSecretFile(env, inviteFile(invite.id));
  return done;
}

/** Where the text of an invite is kept until its agent is let in. */
export const inviteFile = (inviteId: string): string => `invite-${inviteId}.txt`;
