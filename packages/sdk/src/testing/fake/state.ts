/** The tables of the fake service, all in memory, and the reads that several groups of endpoints need. */
import type { Account, Author, File, Folder, Vault, Webhook } from "@coffer/contract";
import { Failure } from "../handlers.ts";

/** Of the key that each account has. */
export const KEY_NAME = "development";

/** A row of any table: its account, and its place in the order of creation. */
export interface Row<Value> {
  readonly accountId: string;
  readonly sequence: number;
  value: Value;
}

export interface ItemRow<Item extends File | Folder> extends Row<Item> {
  /** The folder whose deletion brought it to the trash; null when it went alone. */
  trashedWith: string | null;
}

export interface FileRow extends ItemRow<File> {
  bytes: Uint8Array;
}

/** An account and its one key, which may do everything. */
export interface AccountRow {
  readonly value: Account;
  readonly keyId: string;
  readonly key: string;
}

export interface UploadRow {
  readonly accountId: string;
  readonly id: string;
  readonly length: number;
  readonly metadata: ReadonlyMap<string, string>;
  readonly ifAbsent: boolean;
  readonly ifMatch: string | undefined;
  bytes: Uint8Array;
  /** Of the file that it became; null before it is complete. */
  fileId: string | null;
}

export interface WebhookRow extends Row<Webhook> {
  readonly secret: string;
}

/** A message that its receiver has not taken yet. */
export interface QueuedDelivery {
  readonly webhookId: string;
  readonly messageId: string;
  /** The bytes of every attempt. */
  readonly payload: string;
  readonly attempts: number;
  /** When the next attempt is due, in milliseconds since 1970. */
  readonly dueAt: number;
}

/** Takes the part of the network between the fake and the receivers of its webhooks. A rejection is a refused connection. */
export type Receive = (request: Request) => Response | Promise<Response>;

export interface State {
  readonly accounts: Map<string, AccountRow>;
  readonly vaults: Map<string, Row<Vault>>;
  readonly folders: Map<string, ItemRow<Folder>>;
  readonly files: Map<string, FileRow>;
  readonly uploads: Map<string, UploadRow>;
  readonly webhooks: Map<string, WebhookRow>;
  /** Oldest first. */
  deliveries: readonly QueuedDelivery[];
  readonly receive: Receive | null;
  /** Milliseconds since 1970. */
  now(): number;
  /** The next number of rows and events. */
  next(): number;
}

/** Who calls: the only credential of the fake is the key of an account. */
export interface Caller {
  readonly accountId: string;
  readonly keyId: string;
}

export function createState(now: () => number, receive: Receive | null): State {
  let sequence = 0;
  return {
    accounts: new Map(),
    vaults: new Map(),
    folders: new Map(),
    files: new Map(),
    uploads: new Map(),
    webhooks: new Map(),
    deliveries: [],
    receive,
    now,
    next: () => (sequence += 1),
  };
}

export function timestamp(state: Pick<State, "now">, inMs = 0): string {
  return new Date(state.now() + inMs).toISOString();
}

export function notFound(what: string): Failure {
  return new Failure("not_found", `${what} not found`);
}

/** For what the service can do, and the fake has left out. */
export function notCovered(what: string): Failure {
  return new Failure("not_configured", `The fake does not cover ${what}: mock the endpoint, or run the service`);
}

/** The caller of a request; an unknown credential is 401. */
export function authenticate(state: State, request: Request): Caller {
  const text = /^Bearer (\S+)$/.exec(request.headers.get("authorization") ?? "")?.[1];
  const account = [...state.accounts.values()].find(({ key }) => key === text);
  if (account === undefined) throw new Failure("invalid_credential");
  return { accountId: account.value.id, keyId: account.keyId };
}

export function authorOf({ keyId }: Caller): Author {
  return { kind: "api-key", id: keyId, name: KEY_NAME, chainAddress: null };
}

/** The account's vault, also one in the trash. */
export function readAnyVault(state: State, caller: Caller, vaultId: string): Row<Vault> {
  const row = state.vaults.get(vaultId);
  if (row?.accountId !== caller.accountId) throw notFound("Vault");
  return row;
}

export function readVault(state: State, caller: Caller, vaultId: string): Row<Vault> {
  const row = readAnyVault(state, caller, vaultId);
  if (row.value.trashedAt !== null) throw notFound("Vault");
  return row;
}

/** Whether a caller sees a file or folder: nobody sees what lies in a vault that is in the trash. */
export function isSeen(state: State, caller: Caller, { accountId, value }: Row<File | Folder>): boolean {
  return accountId === caller.accountId && state.vaults.get(value.vaultId)?.value.trashedAt === null;
}

export function readFile(state: State, caller: Caller, fileId: string): FileRow {
  const row = state.files.get(fileId);
  if (row === undefined || !isSeen(state, caller, row)) throw notFound("File");
  return row;
}

export function readFolder(state: State, caller: Caller, folderId: string): ItemRow<Folder> {
  const row = state.folders.get(folderId);
  if (row === undefined || !isSeen(state, caller, row)) throw notFound("Folder");
  return row;
}

/** The vault and folder of a new item. */
export function findPlace(
  state: State,
  caller: Caller,
  vaultId: string | undefined,
  folderId: string | null | undefined,
): { readonly vaultId: string; readonly folderId: string | null } {
  if (vaultId !== undefined) readVault(state, caller, vaultId);
  if (folderId === undefined || folderId === null)
    return { vaultId: vaultId ?? defaultVault(state, caller), folderId: null };
  const { value } = readFolder(state, caller, folderId);
  if (vaultId !== undefined && value.vaultId !== vaultId) throw new Failure("different_vault");
  if (value.trashedAt !== null) throw new Failure("trashed");
  return { vaultId: value.vaultId, folderId };
}

function defaultVault(state: State, caller: Caller): string {
  const rows = [...state.vaults.values()].filter(({ accountId }) => accountId === caller.accountId);
  const row = rows.find(({ value }) => value.isDefault);
  if (row === undefined) throw new Failure("vault_required");
  return row.value.id;
}

/** One page of rows, newest first. The cursor is opaque to callers: the sequence of the last row. */
export function pageOf<Value>(
  rows: Iterable<Row<Value>>,
  query: { readonly limit?: number | undefined; readonly cursor?: string | undefined },
): { readonly items: Value[]; readonly nextCursor: string | null } {
  const before = query.cursor === undefined ? Number.POSITIVE_INFINITY : parseCursor(query.cursor);
  const found = [...rows].filter((row) => row.sequence < before).sort((a, b) => b.sequence - a.sequence);
  const page = found.slice(0, query.limit ?? 100);
  const last = page.at(-1);
  return {
    items: page.map((row) => row.value),
    nextCursor: last !== undefined && found.length > page.length ? `s${String(last.sequence)}.` : null,
  };
}

function parseCursor(text: string): number {
  const sequence = /^s(\d{1,15})\.$/.exec(text)?.[1];
  if (sequence === undefined) throw new Failure("validation_failed", "query.cursor: Invalid cursor");
  return Number(sequence);
}

export function beginsWith(id: string, prefix = ""): boolean {
  return id.replaceAll("-", "").startsWith(prefix.replaceAll("-", ""));
}
