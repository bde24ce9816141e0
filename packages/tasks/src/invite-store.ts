/**
 * What an owner decided about an agent, as this machine kept it when it made the invite: the text, which says the end and
 * the shared vaults, and beside it the name and the rights. The service's rows say no word in it.
 */
import { readdir } from "node:fs/promises";
import type { Client, Invite } from "@coffer/sdk";
import { deleteSecretFile, handedOutDirectory, readSecretFile, writeSecretFile } from "./secret-file.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What is kept beside the text. */
interface Decision {
  readonly name: string | null;
  /** null: all that agents may do, or nothing is kept. */
  readonly scopes: readonly string[] | null;
  readonly vaultIds: readonly string[] | null;
  readonly budgets: Readonly<Record<string, number>> | null;
  /** When the invite was made, by this machine's clock, in milliseconds since 1970. */
  readonly madeAt: number | null;
  /** The generation that each shared vault had then. */
  readonly generations: Readonly<Record<string, string>>;
}

export interface StoredInvite extends Omit<Decision, "vaultIds"> {
  readonly inviteId: string;
  readonly text: string;
  /** When the access ends, by the text; null: it has no end. */
  readonly accessUntil: string | null;
  /** The shared vaults, by the text; where it names none, those that were asked for. */
  readonly vaultIds: readonly string[];
}

/** Where the text of an invite is kept until its agent is let in. */
export const inviteFile = (inviteId: string): string => `invite-${inviteId}.txt`;

/** Where the rest of the decision is kept, in JSON. */
export const decisionFile = (inviteId: string): string => `invite-${inviteId}.json`;

export interface InviteTerms {
  readonly name: string;
  readonly scopes?: readonly string[] | undefined;
  readonly vaultIds?: readonly string[] | undefined;
  readonly budgets?: Readonly<Record<string, number | undefined>> | undefined;
}

/** The text for {@link decisionFile}. Call it before the invite is made: a removal after this moment is the newer decision. */
export async function describeDecision(
  client: Client,
  { name, scopes, vaultIds, budgets }: InviteTerms,
  now: number,
  signal: AbortSignal,
): Promise<string> {
  const generations: Record<string, string> = {};
  for (const vaultId of vaultIds ?? []) {
    // A client without a chain key knows no generation, and lets nobody in.
    const readers = await client.vaults.readers(vaultId, { signal }).catch(() => null);
    if (readers !== null && readers.generation !== null) generations[vaultId] = String(readers.generation);
  }
  const decision: Decision = {
    name,
    scopes: scopes ?? null,
    vaultIds: vaultIds ?? null,
    budgets: budgets === undefined ? null : Object.fromEntries(Object.entries(budgets).flatMap(numbered)),
    madeAt: now,
    generations,
  };
  return JSON.stringify(decision);
}

const numbered = ([name, amount]: [string, number | undefined]): [string, number][] =>
  amount === undefined ? [] : [[name, amount]];

/** Keeps a new invite for {@link findProvenInvites}. */
export async function saveInvite(env: Environment, inviteId: string, text: string, decision: string): Promise<void> {
  await writeSecretFile(env, decisionFile(inviteId), decision);
  await writeSecretFile(env, inviteFile(inviteId), text);
}

export async function deleteInvite(env: Environment, inviteId: string): Promise<void> {
  await deleteSecretFile(env, inviteFile(inviteId));
  await deleteSecretFile(env, decisionFile(inviteId));
}

/**
 * The kept invites that were redeemed, by the chain address that each one's secret proves. The service passes the
 * address on, and cannot put in one of its own.
 */
export async function findProvenInvites(
  client: Client,
  env: Environment,
  signal: AbortSignal,
): Promise<Map<string, StoredInvite>> {
  const stored = new Map((await readStoredInvites(client, env)).map((each) => [each.inviteId, each]));
  const proven = new Map<string, StoredInvite>();
  if (stored.size === 0) return proven;
  for await (const invite of client.invites.list({ limit: 1000 }, { signal })) {
    const { chainAddress } = invite;
    const candidate = stored.get(invite.id);
    if (candidate === undefined || chainAddress === null || !(await isProven(client, candidate, invite))) continue;
    const other = proven.get(chainAddress);
    // An agent that was invited again: the newest decision holds.
    if (other === undefined || (other.madeAt ?? 0) < (candidate.madeAt ?? 0)) proven.set(chainAddress, candidate);
  }
  return proven;
}

async function isProven(client: Client, { text }: StoredInvite, invite: Invite): Promise<boolean> {
  return await client.invites.checkAddressProof(text, invite);
}

async function readStoredInvites(client: Client, env: Environment): Promise<StoredInvite[]> {
  const directory = await handedOutDirectory(env);
  const names = await readdir(directory).catch(() => []);
  const invites: StoredInvite[] = [];
  for (const name of names) {
    const [, inviteId] = /^invite-([0-9a-f-]{36})\.txt$/.exec(name) ?? [];
    const text = inviteId === undefined ? null : await readSecretFile(env, name);
    if (inviteId === undefined || text === null) continue;
    const terms = await client.invites.readText(text).catch(() => null);
    if (terms === null) continue;
    const decision = parseDecision((await readSecretFile(env, decisionFile(inviteId))) ?? "");
    const vaultIds = terms.vaults?.vaults.map(({ vaultId }) => vaultId) ?? decision.vaultIds ?? [];
    invites.push({ ...decision, inviteId, text, accessUntil: terms.accessUntil, vaultIds });
  }
  return invites;
}

const NO_DECISION: Decision = {
  name: null,
  scopes: null,
  vaultIds: null,
  budgets: null,
  madeAt: null,
  generations: {},
};

/** An invite of an earlier version has no such file. What is not of its form counts as not there. */
function parseDecision(text: string): Decision {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return NO_DECISION;
  }
  if (typeof parsed !== "object" || parsed === null) return NO_DECISION;
  const { name, scopes, vaultIds, budgets, madeAt, generations } = parsed as Record<string, unknown>;
  return {
    name: typeof name === "string" ? name : null,
    scopes: isTexts(scopes) ? scopes : null,
    vaultIds: isTexts(vaultIds) ? vaultIds : null,
    budgets: isObjectOf(budgets, "number") ? (budgets as Record<string, number>) : null,
    madeAt: typeof madeAt === "number" ? madeAt : null,
    generations: isObjectOf(generations, "string") ? (generations as Record<string, string>) : {},
  };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function isObjectOf(value: unknown, kind: "number" | "string"): boolean {
  return typeof value === "object" && value !== null && Object.values(value).every((each) => typeof each === kind);
}
