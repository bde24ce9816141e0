/** `client.search`: the service's search and the local indexes of names as one list (decision 0054). */
import { DEFAULT_PAGE, MAX_PAGE, foldersGroup, searchGroup, vaultsGroup, type Vault } from "@coffer/contract";
import { callOn } from "../http/call.ts";
import { digestOf, toHex } from "../transfer/digest.ts";
import { inLanes } from "../http/concurrency.ts";
import { encodeRequest } from "../http/encode-request.ts";
import { AbortError, ContractError, isAnswered, SdkError } from "../http/errors.ts";
import { everyPage, MAX_PAGES_IN_MEMORY, type PageCursor } from "../http/every-page.ts";
import type { CallOptions, Connection } from "../connection/options.ts";
import type { FileSearchQuery } from "./search-types.ts";
import { sharedCode } from "../connection/shared-code.ts";
import { decodeCursor, encodeCursor, type SearchPosition } from "./search-cursor.ts";
import type { FoundFacts, FoundFile, NameSearchOptions, UnsearchedVault } from "./search-types.ts";
import type { SearchSide } from "./local-indexes.ts";
import { compareSortKeys, type NameTable, nameFilter } from "./name-table.ts";
import { type RankedFile, LocalSource, ServiceSource, type Source } from "./search-sources.ts";

const BUILD_MS = 10_000;
/** Vaults that are opened at the same time. */
const LANES = 8;
/** The search of all of the account, among searches by vault. */
const ACCOUNT = "";

export interface FoundPage extends FoundFacts {
  readonly files: FoundFile[];
  readonly nextCursor: string | null;
}

/** All that is searched, on both sides. */
interface Scope {
  /** By vault; {@link ACCOUNT} for the search of all of the account. */
  readonly atService: readonly string[];
  readonly tables: ReadonlyMap<string, NameTable>;
  readonly unsearched: readonly UnsearchedVault[];
  /** false: the caller has named the vault, and gets its errors. */
  readonly isAll: boolean;
}

interface SearchCall {
  readonly connection: Connection;
  readonly query: FileSearchQuery;
  readonly options: CallOptions;
  readonly localOnly: boolean;
  readonly deadline: number;
}

export async function searchFiles(
  connection: Connection,
  { cursor, ...query }: FileSearchQuery,
  { localOnly = false, buildFor = BUILD_MS, ...options }: NameSearchOptions = {},
): Promise<FoundPage> {
  await encodeRequest(searchGroup.search, { query });
  const { limit = DEFAULT_PAGE, ...same } = query;
  const searchId = toHex((await digestOf(new TextEncoder().encode(JSON.stringify([same, localOnly])))).subarray(0, 8));
  const position = decodeCursor(searchId, cursor ?? undefined);
  const call = { connection, query, options, localOnly, deadline: connection.clock.now() + buildFor };
  const scope = await (query.vaultId === undefined && query.folderId === undefined ? allVaults(call) : oneVault(call));
  const unreadable = [...scope.tables.values()].reduce((sum, table) => sum + unreadableFiles(table), 0);
  // A name that is indexed later may come before those indexed now: so nothing is returned until all indexes are whole.
  if (scope.unsearched.some(({ reason }) => reason === UNFINISHED))
    return {
      files: [],
      nextCursor: encodeCursor(searchId, position),
      complete: false,
      unsearched: scope.unsearched,
      unreadable,
    };
  const { files, next, isUnfinished, refused } = await merge(call, scope, position, limit);
  const unsearched = [...scope.unsearched, ...refused];
  const complete = !isUnfinished && unsearched.length === 0;
  return { files, nextCursor: next === null ? null : encodeCursor(searchId, next), complete, unsearched, unreadable };
}

const UNFINISHED = "unfinished";

function unreadableFiles({ unreadable }: NameTable): number {
  return [...unreadable.values()].filter(({ item }) => item === "file").length;
}

/** Files of all sources, best first, until the page is full. */
async function merge(
  { connection, query, options, deadline }: SearchCall,
  scope: Scope,
  start: SearchPosition,
  limit: number,
) {
  const { atService, tables } = scope;
  const local = new LocalSource(tables, nameFilter(query), start.local, limit);
  const named = new Map(
    atService.map((vaultId) => {
      const isElsewhere = (id: string): boolean => tables.has(id) || (vaultId !== id && atService.includes(id));
      const ofVault = vaultId === ACCOUNT ? {} : { vaultId };
      const search = { connection, options, deadline, query: { ...query, ...ofVault }, isElsewhere };
      return [vaultId, new ServiceSource(search, start.service[vaultId])] as const;
    }),
  );
  const sources: readonly Source[] = [local, ...named.values()];
  const files: FoundFile[] = [];
  const refused: UnsearchedVault[] = [];
  const headOf = async (source: Source, at: number): Promise<RankedFile | null | typeof UNFINISHED> => {
    try {
      return await source.head();
    } catch (error) {
      // One of several vaults says no: it hides no others.
      const vaultId = atService[at - 1] ?? ACCOUNT;
      if (!scope.isAll || vaultId === ACCOUNT || !isAnswered(error)) throw error;
      named.get(vaultId)?.end();
      refused.push({ vaultId, reason: error.code });
      return null;
    }
  };
  for (;;) {
    const heads = await Promise.all(sources.map(headOf));
    const next = {
      local: local.position,
      service: Object.fromEntries([...named].map(([vaultId, source]) => [vaultId, source.position])),
    };
    if (heads.includes(UNFINISHED)) return { files, next, isUnfinished: true, refused };
    const best = bestOf(heads as readonly (RankedFile | null)[]);
    if (best === null) return { files, next: null, isUnfinished: false, refused };
    if (files.length === limit) return { files, next, isUnfinished: false, refused };
    files.push(best.file.file);
    sources[best.at]?.advance();
  }
}

function bestOf(heads: readonly (RankedFile | null)[]): { readonly file: RankedFile; readonly at: number } | null {
  let best: { readonly file: RankedFile; readonly at: number } | null = null;
  for (const [at, file] of heads.entries())
    if (file !== null && (best === null || compareSortKeys(file, best.file) < 0)) best = { file, at };
  return best;
}

/** The named vault, or that of the named folder. Nothing is sent to the service before it is known who searches there. */
async function oneVault(call: SearchCall): Promise<Scope> {
  const { connection, query, localOnly, options } = call;
  const vaultId = await vaultOf(call);
  const opened = await openOne(call, vaultId);
  if (opened.by === "service") {
    if (localOnly)
      throw new ContractError("request", "client.search", ["localOnly: the service reads the names of this vault"]);
    return { ...NOTHING, atService: [vaultId] };
  }
  if (opened.names === null) return { ...NOTHING, unsearched: [{ vaultId, reason: UNFINISHED }] };
  const { folderId } = query;
  // The service's own error for a folder that is not there.
  if (folderId !== undefined && !opened.names.table.folders.has(folderId))
    await callOn(connection, foldersGroup.get, { params: { folderId } }, options);
  return { ...NOTHING, tables: new Map([[vaultId, opened.names.table]]) };
}

const NOTHING: Scope = { atService: [], tables: new Map(), unsearched: [], isAll: false };

async function vaultOf({ connection, query, options }: SearchCall): Promise<string> {
  const { vaultId, folderId } = query;
  if (connection.sharedVaults !== null) {
    const place = await (await sharedCode(connection)).findPlace(connection, { vaultId, folderId }, options);
    if (place !== null) return place.vaultId;
  }
  if (vaultId !== undefined) return vaultId;
  const params = { folderId: folderId ?? "" };
  return (await callOn(connection, foldersGroup.get, { params }, options)).folder.vaultId;
}

/** A client without `sharedVaults` learns from the service who reads the names. */
async function openOne({ connection, deadline, options }: SearchCall, vaultId: string): Promise<SearchSide> {
  if (connection.sharedVaults !== null)
    return (await sharedCode(connection)).openIndex(connection, vaultId, { deadline, options, isNamed: true });
  const { vault } = await callOn(connection, vaultsGroup.get, { params: { vaultId } }, options);
  if (isReadable(vault)) return { by: "service" };
  await sharedCode(connection);
  return { by: "client", names: null };
}

function isReadable({ type, plainNames }: Vault): boolean {
  return type === "public" || plainNames === true;
}

/** Every vault that the service lists, and those that an index was kept of. */
async function allVaults(call: SearchCall): Promise<Scope> {
  const { connection, localOnly } = call;
  const listed = await listVaults(call);
  const names = connection.sharedVaults === null ? null : await sharedCode(connection);
  const indexed = new Set(await names?.indexedVaults(connection, listed));
  const atService = new Set<string>();
  const tables = new Map<string, NameTable>();
  const unsearched: UnsearchedVault[] = [];
  const open = async (vaultId: string): Promise<void> => {
    const vault = listed.get(vaultId);
    if (names === null && vault !== undefined && !isReadable(vault))
      return void unsearched.push({ vaultId, reason: "shared_vault" });
    const isOpened = names !== null && (vault?.type === "shared" || indexed.has(vaultId));
    const opened = isOpened ? await names.openIndex(connection, vaultId, { ...call, isNamed: false }) : null;
    if (vault === undefined) return requireTrashed(call, vaultId);
    if (opened?.by !== "client") atService.add(vault?.role === "member" ? vaultId : ACCOUNT);
    else if (opened.names === null) unsearched.push({ vaultId, reason: UNFINISHED });
    else tables.set(vaultId, opened.names.table);
  };
  await inLanes(new Set([...listed.keys(), ...indexed]), LANES, (vaultId) =>
    open(vaultId).catch((error: unknown) => {
      if (!(error instanceof SdkError) || error instanceof AbortError) throw error;
      unsearched.push({ vaultId, reason: error.code });
    }),
  );
  unsearched.sort((one, other) => (one.vaultId < other.vaultId ? -1 : 1));
  return { atService: localOnly ? [] : [...atService].sort(), tables, unsearched, isAll: true };
}

/** The service does not list a vault whose index was kept, and which is still open. What is in its trash is not searched. */
async function requireTrashed({ connection, options }: SearchCall, vaultId: string): Promise<void> {
  const { vault } = await callOn(connection, vaultsGroup.get, { params: { vaultId } }, options);
  if (vault.trashedAt === null)
    throw new ContractError("response", vaultsGroup.list.id, [`vaults: ${vaultId} is missing`]);
}

/** Own vaults, and those of other accounts. */
async function listVaults({ connection, options }: SearchCall): Promise<ReadonlyMap<string, Vault>> {
  const listed = new Map<string, Vault>();
  const list = async (shared: { readonly shared?: true }): Promise<void> => {
    const load = (place: PageCursor) =>
      callOn(connection, vaultsGroup.list, { query: { ...shared, limit: MAX_PAGE, ...place } }, options);
    for await (const { vaults } of everyPage(vaultsGroup.list.id, load, MAX_PAGES_IN_MEMORY))
      for (const vault of vaults) listed.set(vault.id, vault);
  };
  await Promise.all([list({}), list({ shared: true })]);
  return listed;
}
