/** Keys, invites and members as one list, and the acts of an owner on them. */
import type { ApiKey, Client, Invite, Rewind, RewindStep, RevokedAgent, VaultMember } from "@coffer/sdk";
import { untrusted } from "./untrusted.ts";
import { TaskFailure, toFailure, type FailureDetails } from "./failure.ts";
import type { Task } from "./task.ts";

/** One way in. */
export type Access =
  | { readonly kind: "key"; readonly key: ApiKey }
  | { readonly kind: "invite"; readonly invite: Invite }
  | { readonly kind: "member"; readonly member: VaultMember; readonly vaultId: string };

const ORDER = ["key", "invite", "member"] as const;
/** Shared vaults whose members one list shows. */
const MOST_VAULTS = 50;

export interface AccessPage {
  readonly rows: readonly Access[];
  readonly next: string | null;
}

/** Where a list is: `key~CURSOR`, `invite~CURSOR`, `member~`. A page goes on with the next kind as long as there is room. */
export async function listAccess(
  task: Task,
  vaultId: string | null,
  limit: number,
  position: string | null,
): Promise<AccessPage> {
  const rows: Access[] = [];
  let next: string | null = position ?? "key~";
  while (next !== null && rows.length < limit) {
    const page: AccessPage = await readKind(task, vaultId, limit - rows.length, next);
    rows.push(...page.rows);
    next = page.next;
  }
  return { rows, next };
}

async function readKind(task: Task, vaultId: string | null, limit: number, position: string): Promise<AccessPage> {
  const client = await task.client();
  const [kind = "", cursor = ""] = position.split("~", 2);
  const at = ORDER.find((each) => each === kind);
  if (at === undefined) throw new TaskFailure("invalid_arguments", { message: "cursor is none of this tool" });
  if (at === "member") return { rows: await membersOf(client, task, vaultId), next: null };
  const query = { limit, ...(cursor === "" ? {} : { cursor }) };
  const { rows, nextCursor } = at === "key" ? await keys(client, task, query) : await invites(client, task, query);
  const reaching = rows.filter((row) => vaultId === null || reaches(row, vaultId));
  const after = at === "key" ? "invite~" : "member~";
  return { rows: reaching, next: nextCursor === null ? after : `${at}~${nextCursor}` };
}

type Query = { readonly limit: number; readonly cursor?: string };
type Rows = { readonly rows: Access[]; readonly nextCursor: string | null };

async function keys(client: Client, { signal }: Task, query: Query): Promise<Rows> {
  const page = await client.apiKeys.list(query, { signal });
  return { rows: page.apiKeys.map((key) => ({ kind: "key", key })), nextCursor: page.nextCursor };
}

async function invites(client: Client, { signal }: Task, query: Query): Promise<Rows> {
  const page = await client.invites.list(query, { signal });
  return { rows: page.invites.map((invite) => ({ kind: "invite", invite })), nextCursor: page.nextCursor };
}

function reaches(row: Access, vaultId: string): boolean {
  const ids = row.kind === "key" ? row.key.vaultIds : row.kind === "invite" ? row.invite.vaultIds : null;
  return ids?.includes(vaultId) ?? true;
}

async function membersOf(client: Client, { signal }: Task, vaultId: string | null): Promise<Access[]> {
  const vaultIds: string[] = [];
  if (vaultId !== null) {
    if ((await client.vaults.get(vaultId, { signal })).type === "shared") vaultIds.push(vaultId);
  } else
    for await (const { id } of client.vaults.list({ type: "shared" }, { signal })) {
      if (vaultIds.length >= MOST_VAULTS) break;
      vaultIds.push(id);
    }
  const lists = await Promise.all(
    vaultIds.map(async (id) =>
      (await client.vaults.members.list(id, { signal })).items.map((member) => ({ id, member })),
    ),
  );
  return lists.flat().map(({ id, member }) => ({ kind: "member", member, vaultId: id }));
}

/** What an owner names for revoking: a key by its id or the beginning of one, an invite, or a chain address. */
export type AccessHolder =
  | { readonly kind: "key"; readonly key: ApiKey }
  | { readonly kind: "invite"; readonly invite: Invite }
  | { readonly kind: "address"; readonly chainAddress: string; readonly vaultIds: readonly string[] };

/** @throws TaskFailure `not_found`, `ambiguous`, `invalid_arguments`. */
export async function findHolder(task: Task, text: string): Promise<AccessHolder> {
  const id = text.trim().toLowerCase();
  if (/^0x[0-9a-f]{64}$/.test(id)) return await findAddress(task, id);
  if (!/^[0-9a-f]{8}[0-9a-f-]{0,28}$/.test(id))
    throw new TaskFailure("invalid_arguments", {
      message: "who must be the id of a key or invite, or a chain address",
    });
  const client = await task.client();
  const holders: AccessHolder[] = [];
  for await (const key of client.apiKeys.list({}, { signal: task.signal }))
    if (key.id.startsWith(id) && key.revokedAt === null) holders.push({ kind: "key", key });
  for await (const invite of client.invites.list({}, { signal: task.signal }))
    if (invite.id.startsWith(id)) holders.push({ kind: "invite", invite });
  const [first, second] = holders;
  if (first !== undefined && second === undefined) return first;
  throw new TaskFailure(first === undefined ? "not_found" : "ambiguous", {
    ...(first === undefined ? noSuchHolder(text) : {}),
    nextStep: "access_list shows keys and invites with their ids.",
  });
}

const noSuchHolder = (text: string): FailureDetails => ({
  about: "key",
  message: "There is no such key or invite",
  detail: untrusted(text),
});

/**
 * The actor of changes, as the service names it: the id of a key, or a chain address. Owners may also pass the beginning of
 * that id, or the exact name of the key.
 * @throws TaskFailure `not_found`, `ambiguous`; `invalid_arguments` for a caller that may not list keys.
 */
export async function findActor(task: Task, text: string): Promise<string> {
  const name = text.trim();
  const id = name.toLowerCase();
  if (/^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|0x[0-9a-f]{64})$/.test(id)) return id;
  const [byId, byName]: [string[], string[]] = [[], []];
  for (const key of await allKeys(task)) {
    if (id.length >= 8 && key.id.startsWith(id)) byId.push(key.id);
    if (key.name.normalize("NFC") === name.normalize("NFC")) byName.push(key.id);
  }
  const matches = byId.length > 0 ? byId : byName;
  const [first, second] = matches;
  if (first !== undefined && second === undefined) return first;
  throw new TaskFailure(first === undefined ? "not_found" : "ambiguous", {
    ...(first === undefined ? noSuchHolder(text) : {}),
    nextStep: "access_list shows keys with their ids and names.",
  });
}

/** {@link findActor}, or `me`: as the service and the local index of names know it. */
export async function findAuthor(task: Task, text: string): Promise<string> {
  if (text.trim().toLowerCase() !== "me") return await findActor(task, text);
  const client = await task.client();
  const own = await task.chainAddress();
  if (own !== null) return own;
  const { credential } = await client.account.get({ signal: task.signal });
  if (credential.id !== null) return credential.id;
  throw new TaskFailure("invalid_arguments", { message: "author cannot be me: this credential has no id" });
}

async function allKeys(task: Task): Promise<ApiKey[]> {
  const client = await task.client();
  try {
    const keys: ApiKey[] = [];
    for await (const key of client.apiKeys.list({}, { signal: task.signal })) keys.push(key);
    return keys;
  } catch (error) {
    if (toFailure(error, task.signal).code !== "owner_only") throw error;
    throw new TaskFailure("invalid_arguments", {
      message: "An agent names others by the whole id of a key, or by a chain address",
      nextStep: "change_list shows who did what: leave the argument out.",
    });
  }
}

async function findAddress(task: Task, chainAddress: string): Promise<AccessHolder> {
  const client = await task.client();
  const members = await membersOf(client, task, null);
  const vaultIds = members.flatMap((row) =>
    row.kind === "member" && row.member.chainAddress === chainAddress ? [row.vaultId] : [],
  );
  return { kind: "address", chainAddress, vaultIds };
}

/** The agents' keys that the service binds to an address; where none counts any more, those that did. */
export async function findKeysOfAddress(task: Task, chainAddress: string): Promise<ApiKey[]> {
  const keys = (await allKeys(task)).filter((key) => key.accessLevel === "agent" && key.chainAddress === chainAddress);
  const live = keys.filter(({ revokedAt }) => revokedAt === null);
  return live.length > 0 ? live : keys.slice(0, 1);
}

export interface Revocation {
  readonly what: "key" | "invite" | "memberships";
  readonly memberships: number;
  readonly effect: string | null;
  /** What became of each shared vault; null: only the key was revoked, for want of a chain key or an address. */
  readonly agent: RevokedAgent | null;
}

/** Key first, then memberships; safe to repeat. */
export async function revokeHolder(task: Task, holder: AccessHolder): Promise<Revocation> {
  const client = await task.client();
  const { signal } = task;
  if (holder.kind === "invite") {
    await client.invites.revoke(holder.invite.id, { signal });
    return { what: "invite", memberships: 0, effect: null, agent: null };
  }
  if (holder.kind === "address") {
    for (const vaultId of holder.vaultIds) await client.vaults.members.remove(vaultId, holder.chainAddress, { signal });
    return { what: "memberships", memberships: holder.vaultIds.length, effect: null, agent: null };
  }
  const { chainAddress } = holder.key;
  if (chainAddress === null || (await task.chainAddress()) === null) {
    await client.apiKeys.revoke(holder.key.id, { signal });
    return { what: "key", memberships: 0, effect: null, agent: null };
  }
  const done: RevokedAgent = await client.agents.revoke(holder.key.id, { chainAddress, signal });
  const removed = done.memberships.filter(({ outcome }) => outcome === "removed").length;
  return { what: "key", memberships: removed, effect: done.effect, agent: done };
}

export interface RewindRequest {
  readonly since: string;
  readonly until?: string;
  readonly vaultId?: string;
  readonly dryRun: boolean;
  readonly onStep?: (step: RewindStep) => void;
}

/** Undoes what a key, or a chain address, did since a time. Safe to repeat: it goes on where it stopped. */
export async function rewindHolder(
  task: Task,
  holder: AccessHolder,
  { onStep, ...request }: RewindRequest,
): Promise<Rewind> {
  if (holder.kind === "invite")
    throw new TaskFailure("invalid_arguments", { message: "An invite did nothing that could be undone" });
  const client = await task.client();
  const address = holder.kind === "key" ? holder.key.chainAddress : holder.chainAddress;
  const actor = address === null && holder.kind === "key" ? { keyId: holder.key.id } : { chainAddress: address ?? "" };
  return await client.agents.rewind({ ...actor, ...request }, { signal: task.signal, ...(onStep && { onStep }) });
}
