/** Finds what an account owns by id, by the beginning of one (8 or more digits), or by exact name. It never guesses. */
import type { ApiKey, Invite, Vault, Webhook } from "@coffer/sdk";
import { TaskFailure } from "./failure.ts";
import { wholeId } from "./item-lookup.ts";
import type { Task } from "./task.ts";
import { untrusted } from "./untrusted.ts";

/** Candidates that one refusal names. */
const MOST_CANDIDATES = 10;

/** @throws TaskFailure `not_found`; `ambiguous` with the candidates. */
export async function findKey(task: Task, text: string): Promise<ApiKey> {
  const client = await task.client();
  const id = wholeId(text);
  if (id !== null) return await client.apiKeys.get(id, { signal: task.signal });
  return await requireOne(client.apiKeys.list({ limit: 1000 }, { signal: task.signal }), text, ({ name }) => name);
}

/** @throws TaskFailure `not_found`; `ambiguous` with the candidates. */
export async function findInvite(task: Task, text: string): Promise<Invite> {
  const client = await task.client();
  return await requireOne(client.invites.list({ limit: 1000 }, { signal: task.signal }), text, ({ name }) => name);
}

/** A webhook has no name: its id, or the beginning of it. @throws TaskFailure `not_found`, `ambiguous`. */
export async function findWebhook(task: Task, text: string): Promise<Webhook> {
  const client = await task.client();
  const id = wholeId(text);
  if (id !== null) return await client.webhooks.get(id, { signal: task.signal });
  return await requireOne(client.webhooks.list({ limit: 1000 }, { signal: task.signal }), text, ({ url }) => url);
}

/** A vault in the trash. @throws TaskFailure `not_found`, `ambiguous`. */
export async function findTrashedVault(task: Task, text: string): Promise<Vault> {
  const client = await task.client();
  return await requireOne(client.trash.vaults({ limit: 1000 }, { signal: task.signal }), text, ({ name }) => name);
}

async function requireOne<Item extends { readonly id: string }>(
  items: AsyncIterable<Item>,
  text: string,
  nameOf: (item: Item) => string,
): Promise<Item> {
  const name = text.trim();
  const prefix = /^[0-9a-f]{8}[0-9a-f-]{0,28}$/i.test(name) ? name.toLowerCase() : null;
  const [byId, byName]: [Item[], Item[]] = [[], []];
  for await (const item of items) {
    if (prefix !== null && item.id.startsWith(prefix)) byId.push(item);
    else if (nameOf(item) === name) byName.push(item);
  }
  const matches = byId.length > 0 ? byId : byName;
  const [first, second] = matches;
  if (first !== undefined && second === undefined) return first;
  throw new TaskFailure(first === undefined ? "not_found" : "ambiguous", {
    ...(first === undefined ? { detail: untrusted(name) } : {}),
    candidates: matches.slice(0, MOST_CANDIDATES).map((item) => ({ id: item.id, name: untrusted(nameOf(item)) })),
  });
}
