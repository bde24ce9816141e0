/** Agents of an account: their keys, the vaults that they are in, and those that an invite meant them for. */
import type { ApiKey, Client, FormerReader, Invite } from "@coffer/sdk";
import { TaskFailure } from "./failure.ts";
import { deleteInvite, findProvenInvites, type StoredInvite } from "./invite-store.ts";
import type { Task } from "./task.ts";
import { untrusted } from "./untrusted.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface Agent {
  readonly key: ApiKey;
  /** The used invite that made its key, as the service shows it; null: there is none in the list. */
  readonly invite: Invite | null;
  /** What this machine kept of its owner's decision, proven to be about this address; null: nothing. */
  readonly storedInvite: StoredInvite | null;
  /** As the owner named it; where nothing is kept, as the service does. */
  readonly name: string;
  /** When its access ends, as the owner decided; where nothing is kept, by the service's rows. null: it has no end. */
  readonly accessUntil: string | null;
  /** Shared vaults whose allowlist on the chain names its address. */
  readonly memberOf: readonly string[];
  /** Shared vaults that its invite names, and that it was not let into yet. */
  readonly waitsFor: readonly string[];
}

/** Agents whose keys count, or all of them. */
export async function listAgents(
  task: Task,
  env: Environment,
  withEnded: boolean,
  now: number = Date.now(),
): Promise<Agent[]> {
  const client = await task.client();
  const keys = await agentKeys(client, task, withEnded, now);
  const invites = await usedInvites(client, task);
  const storedInvites = await findProvenInvites(client, env, task.signal);
  const members = await membersByVault(client, task);
  const agents: Agent[] = [];
  for (const key of keys) {
    const { chainAddress } = key;
    const invite = invites.get(key.id) ?? null;
    const storedInvite = chainAddress === null ? null : (storedInvites.get(chainAddress) ?? null);
    const memberOf = [...members].flatMap(([vaultId, addresses]) =>
      chainAddress !== null && addresses.has(chainAddress) ? [vaultId] : [],
    );
    const accessUntil = storedInvite === null ? (invite?.accessUntil ?? key.expiresAt) : storedInvite.accessUntil;
    const isOver = isEnded(key, now) || (accessUntil !== null && Date.parse(accessUntil) <= now);
    const invitedVaultIds = isOver ? [] : (storedInvite?.vaultIds ?? invite?.vaultIds ?? []);
    const missing = invitedVaultIds.filter((vaultId) => members.has(vaultId) && !memberOf.includes(vaultId));
    const waitsFor: string[] = [];
    for (const vaultId of missing)
      if (!(await wasRemoved(client, task, vaultId, chainAddress, storedInvite))) waitsFor.push(vaultId);
    agents.push({
      key,
      invite,
      storedInvite,
      name: storedInvite?.name ?? key.name,
      accessUntil,
      memberOf,
      waitsFor,
    });
  }
  return agents;
}

function isEnded({ revokedAt, expiresAt }: ApiKey, now: number): boolean {
  return revokedAt !== null || (expiresAt !== null && Date.parse(expiresAt) <= now);
}

async function agentKeys(client: Client, { signal }: Task, withEnded: boolean, now: number): Promise<ApiKey[]> {
  const keys: ApiKey[] = [];
  for await (const key of client.apiKeys.list({ limit: 1000 }, { signal }))
    if (key.accessLevel === "agent" && (withEnded || !isEnded(key, now))) keys.push(key);
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
    const members = (await client.vaults.members.list(id, { signal })).items;
    const active = members.filter(({ layers }) => layers.chain === "active");
    vaults.set(id, new Set(active.map(({ chainAddress }) => chainAddress)));
  }
  return vaults;
}

/** Whether its access was taken away, or ended by itself, after the invite was made. The chain says so. */
async function wasRemoved(
  client: Client,
  task: Task,
  vaultId: string,
  chainAddress: string | null,
  storedInvite: StoredInvite | null,
): Promise<boolean> {
  if ((await task.chainAddress()) === null) return false;
  const { former } = await client.vaults.readers(vaultId, { signal: task.signal });
  const generation = BigInt(storedInvite?.generations[vaultId] ?? 0);
  const isNewer = ({ until, endsAt }: FormerReader): boolean =>
    (until === null || until >= generation) && (endsAt === null || Date.parse(endsAt) > (storedInvite?.madeAt ?? 0));
  return former.some((each) => each.chainAddress === chainAddress && isNewer(each));
}

/**
 * The agents that a person names by a chain address or by a name: one.
 * @throws TaskFailure `not_found`; `ambiguous` with the candidates.
 */
export function findAgent(agents: readonly Agent[], text: string): Agent {
  const trimmed = text.trim();
  const address = trimmed.toLowerCase();
  const isAddress = /^0x[0-9a-f]{64}$/.test(address);
  const matches = agents.filter(({ key, name }) => (isAddress ? key.chainAddress === address : name === trimmed));
  // An agent that was invited twice has two keys, and one address.
  const distinct = isAddress ? matches.slice(0, 1) : matches;
  const [first, second] = distinct;
  if (first !== undefined && second === undefined) return first;
  if (first === undefined)
    throw new TaskFailure("not_found", {
      about: "key",
      message: "No agent with a key that counts has this address or name",
      detail: untrusted(trimmed),
    });
  const candidates = distinct.map(({ key, name }) => ({ id: key.chainAddress ?? key.id, name: untrusted(name) }));
  throw new TaskFailure("ambiguous", { candidates });
}

/** What became of letting an agent in. `no_proof`: nothing here proves that the address is the agent's own. */
export interface Admission {
  readonly keyId: string;
  readonly chainAddress: string | null;
  readonly vaultId: string;
  readonly outcome: "added" | "no_proof";
}

/**
 * Adds the agent to the vaults of its invite, until the end that the invite has. The invite's text, which this machine
 * kept when it made the invite, says which and until when, and proves the agent's address. Safe to repeat.
 */
export async function admitAgent(
  task: Task,
  env: Environment,
  { key, storedInvite, waitsFor }: Agent,
): Promise<Admission[]> {
  const facts = { keyId: key.id, chainAddress: key.chainAddress };
  if (storedInvite === null) return waitsFor.map((vaultId) => ({ ...facts, vaultId, outcome: "no_proof" }));
  const client = await task.client();
  const { inviteId, name, text } = storedInvite;
  const label = name === null ? {} : { label: name };
  const done: Admission[] = [];
  for (const vaultId of waitsFor) {
    await client.vaults.members.add(vaultId, { invite: text }, { ...label, signal: task.signal });
    done.push({ ...facts, vaultId, outcome: "added" });
  }
  await deleteInvite(env, inviteId);
  return done;
}
