/** The state of the fake service, all in memory, and the reads that several groups need. */
import {
  HEADERS,
  type Account,
  type ApiKey,
  type File,
  type FileVersion,
  type Folder,
  type Scope,
  type Vault,
} from "@coffer/contract";
import { Failure } from "../handlers.ts";
import { createIdentityState, sessionOfToken, UNLIMITED, type IdentityState } from "./identity-state.ts";
import { createWebhookState, type Receive, type WebhookState } from "./webhook-state.ts";
import type { Budget, KeptEntry, Row, Ticking } from "./row.ts";

export interface FileRow extends Row<File> {
  bytes: Uint8Array;
  /** Newest first; the first is the current one. */
  versions: readonly KeptVersion[];
  /** The folder whose deletion brought it to the trash; null when it went alone. */
  trashedWith: string | null;
}

/** Versions that share their bytes have one array. */
export interface KeptVersion {
  readonly value: FileVersion;
  readonly bytes: Uint8Array;
  /** Milliseconds since 1970; null: the current one. */
  readonly replacedAt: number | null;
  /** Budgets that count the bytes. */
  readonly storedBy: readonly Budget[];
}

export interface FolderRow extends Row<Folder> {
  trashedWith: string | null;
}

export interface KeyRow extends Row<ApiKey> {
  readonly text: string;
  readonly budgets: readonly Budget[];
}

export interface UploadRow {
  readonly accountId: string;
  readonly id: string;
  readonly length: number;
  readonly metadata: ReadonlyMap<string, string>;
  readonly conditions: { readonly ifAbsent: boolean; readonly ifMatch: string | null };
  /** Those that it holds its length of. */
  budgets: readonly Budget[];
  bytes: Uint8Array;
  fileId: string | null;
}

/** Where a call came from, as the fake's handlers see it. */
export interface Visitor {
  /** The origin that was called: signatures must name it. */
  readonly origin: string;
  readonly requestId: string | null;
  readonly userAgent: string | null;
}

/** The caller. A session, and the development rule, have the rights of a key without limits. */
export interface Caller extends Visitor {
  readonly kind: "api-key" | "session" | "development";
  readonly accountId: string;
  readonly sessionId: string | null;
  readonly key: { value: ApiKey; readonly budgets?: readonly Budget[] };
}

export interface State extends IdentityState, WebhookState, Ticking {
  readonly accounts: Map<string, Account>;
  readonly keys: Map<string, KeyRow>;
  readonly vaults: Map<string, Row<Vault>>;
  readonly folders: Map<string, FolderRow>;
  readonly files: Map<string, FileRow>;
  /** Each item's entries by its id, newest first. The first is the current one. */
  readonly entries: Map<string, readonly KeptEntry[]>;
  readonly uploads: Map<string, UploadRow>;
  /** Checks schemes other than Ed25519; null: the fake cannot check them. */
  readonly verifySignature: VerifySignature | null;
}

export function createState(now: () => number, receive?: Receive, verifySignature?: VerifySignature): State {
  let sequence = 0;
  const state = {
    accounts: new Map(),
    keys: new Map(),
    vaults: new Map(),
    folders: new Map(),
    files: new Map(),
    entries: new Map(),
    uploads: new Map(),
  };
  return {
    ...state,
    ...createIdentityState(),
    ...createWebhookState(receive ?? null),
    now,
    verifySignature: verifySignature ?? null,
    next: () => (sequence += 1),
  };
}

export function timestamp(state: Pick<State, "now">, inMs = 0): string {
  return new Date(state.now() + inMs).toISOString();
}

export function notFound(what: string): Failure {
  return new Failure("not_found", `${what} not found`);
}

export function reaches(caller: Caller, vaultId: string): boolean {
  const { vaultIds } = caller.key.value;
  return vaultIds === null || vaultIds.includes(vaultId);
}

/** A row of the caller's within its key's reach, else 404: whether it exists is not disclosed. */
export function readRow<Value extends { readonly vaultId: string }, Found extends Row<Value>>(
  state: Pick<State, "vaults">,
  rows: ReadonlyMap<string, Found>,
  caller: Caller,
  id: string,
  what: string,
): Found {
  const row = rows.get(id);
  if (row === undefined || row.accountId !== caller.accountId || !reaches(caller, row.value.vaultId))
    throw notFound(what);
  if (!isLiveVault(state, row.value.vaultId)) throw notFound(what);
  return row;
}

/** Nobody can see items of a vault that is in the trash. */
export function isLiveVault({ vaults }: Pick<State, "vaults">, vaultId: string): boolean {
  return vaults.get(vaultId)?.value.trashedAt === null;
}

/** Only a vault that is not in the trash. */
export function readVault(state: State, caller: Caller, vaultId: string): Row<Vault> {
  const row = readVaultOrTrashed(state, caller, vaultId);
  if (row.value.trashedAt !== null) throw notFound("Vault");
  return row;
}

export function readVaultOrTrashed(state: State, caller: Caller, vaultId: string): Row<Vault> {
  const row = state.vaults.get(vaultId);
  if (row === undefined || row.accountId !== caller.accountId || !reaches(caller, vaultId)) throw notFound("Vault");
  return row;
}

/** The vault and folder of a new item. */
export function findPlace(
  state: State,
  caller: Caller,
  vaultId: string | undefined,
  folderId: string | null | undefined,
): { vaultId: string; folderId: string | null } {
  if (vaultId !== undefined) readVault(state, caller, vaultId);
  if (folderId === undefined || folderId === null)
    return { vaultId: vaultId ?? defaultVault(state, caller), folderId: null };
  const { value } = readRow(state, state.folders, caller, folderId, "Folder");
  if (vaultId !== undefined && value.vaultId !== vaultId) throw new Failure("different_vault");
  if (value.trashedAt !== null) throw new Failure("trashed");
  return { vaultId: value.vaultId, folderId };
}

function defaultVault(state: State, caller: Caller): string {
  const vault = [...state.vaults.values()].find((row) => row.accountId === caller.accountId && row.value.isDefault);
  if (vault === undefined || !reaches(caller, vault.value.id)) throw new Failure("vault_required");
  return vault.value.id;
}

/** Bytes and files of an account, trash and kept versions included. */
export function usageOf(state: State, accountId: string): Account["usage"] {
  const files = [...state.files.values()].filter((row) => row.accountId === accountId);
  const sum = (contents: Iterable<Uint8Array>): number =>
    [...contents].reduce((bytes, content) => bytes + content.length, 0);
  const now = timestamp(state);
  const isKept = ({ value: { expiresAt } }: KeptVersion) => expiresAt !== null && expiresAt > now;
  const kept = files.map(({ bytes, versions }) => {
    const contents = new Set(versions.filter(isKept).map((version) => version.bytes));
    contents.delete(bytes);
    return sum(contents);
  });
  const versionBytes = kept.reduce((all, bytes) => all + bytes, 0);
  return { bytes: sum(files.map(({ bytes }) => bytes)) + versionBytes, files: files.length, versionBytes };
}

/** One page of rows, newest first. The cursor is opaque to callers: the sequence of the last row, with a check. */
export function pageOf<Value>(
  rows: Iterable<Row<Value>>,
  query: { readonly limit?: number | undefined; readonly cursor?: string | undefined },
): { items: Value[]; nextCursor: string | null } {
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

/** The caller of a request; a credential that is unknown, revoked or expired is 401. */
export function authenticate(state: State, request: Request, visitor: Visitor): Caller {
  const authorization = request.headers.get("authorization");
  if (authorization === null) return authenticateDevelopment(state, request, visitor);
  const text = /^Bearer (\S+)$/.exec(authorization)?.[1] ?? "";
  const session = sessionOfToken(state, text);
  if (session !== null) return { ...visitor, kind: "session", ...session };
  const key = [...state.keys.values()].find((row) => row.text === text);
  if (key === undefined || !isLive(state, key)) throw new Failure("invalid_credential");
  key.value = { ...key.value, lastUsedAt: timestamp(state) };
  return { ...visitor, kind: "api-key", accountId: key.accountId, sessionId: null, key };
}

/** Specification §5.6: the account of a header, else the first one. Like the service, only for calls within this machine. */
function authenticateDevelopment(state: State, { url, headers }: Request, visitor: Visitor): Caller {
  if (!/^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname)) throw new Failure("development_origin");
  const userId = headers.get(HEADERS.devUserId);
  const idpId = headers.get(HEADERS.devIdpId);
  const [first] = state.accounts.keys();
  const accountId = userId ?? (idpId === null ? first : state.identities.get(idpId));
  const account = state.accounts.get(accountId ?? "");
  if (account === undefined) throw new Failure("invalid_credential");
  const { id, createdAt, chainAddress } = account;
  const key = { value: { ...UNLIMITED, id, expiresAt: null, createdAt, chainAddress } };
  return { ...visitor, kind: "development", accountId: id, sessionId: null, key };
}

export function isLive(state: Pick<State, "now">, key: Pick<KeyRow, "value">): boolean {
  const { revokedAt, expiresAt } = key.value;
  return (revokedAt === null || revokedAt > timestamp(state)) && (expiresAt === null || expiresAt > timestamp(state));
}

export function hasScope(caller: Caller, scope: Scope): boolean {
  return caller.key.value.scopes === null || caller.key.value.scopes.includes(scope);
}

/**
 * Whether the address's holder has signed the message: Sui's personal message, its signature serialised in base64. With `@mysten/sui` it is
 * `verifyPersonalMessageSignature` of `@mysten/sui/verify`, whose failure is false.
 */
export type VerifySignature = (
  chainAddress: string,
  message: Uint8Array,
  signature: string,
) => boolean | Promise<boolean>;
