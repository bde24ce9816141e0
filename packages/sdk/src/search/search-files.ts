/** `client.search`: the service's search and the local indexes of names as one list (decision 0054). */
import { DEFAULT_PAGE, MAX_PAGE, foldersGroup, searchGroup, vaultsGroup, type Vault } from "@coffer/contract";
import { callOn } from "../http/call.ts";
import { digestOf, toHex } from "../transfer/digest.ts";
import { encodeRequest } from "../http/encode-request.ts";
import { AbortError, ContractError, isAnswered, SdkError } from "../http/errors.ts";
import { everyPage, MOST_KEPT_PAGES, type PagePlace } from "../http/every-page.ts";
import type { CallOptions, Connection } from "../connection/options.ts";
import type { FileSearchQuery } from "./search-types.ts";
import { sharedCode } from "../connection/shared-code.ts";
import { decodePlace, encodePlace, type SearchPlace } from "./cursor.ts";
import type { FoundFacts, FoundFile, NameSearchOptions, UnsearchedVault } from "./search-types.ts";
import type { OpenedNames } from "./local-names.ts";
import { comparePlaces, type NameTable, wantedBy } from "./name-table.ts";
import { type Found, LocalSource, ServiceSource, type Source } from "./sources.ts";

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

interface Asked {
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
  const of = toHex((await digestOf(new TextEncoder().encode(JSON.stringify([same, localOnly])))).subarray(0, 8));
  const place = decodePlace(of, cursor);
  const asked = { connection, query, options, localOnly, deadline: connection.clock.now() + buildFor };
  const scope = await (query.vaultId === undefined && query.folderId === undefined
    ? allVaults(asked)
    : oneVault(asked));
  const unreadable = [...scope.tables.values()].reduce((sum, table) => sum + table.unreadable.size, 0);
  // A name that is found later may come before those found now: so nothing is given out until all indexes are whole.
  if (scope.unsearched.some(({ reason }) => reason === UNFINISHED))
    return { files: [], nextCursor: encodePlace(of, place), complete: false, unsearched: scope.unsearched, unreadable };
  const { files, next, isUnfinished, refused } = await merge(asked, scope, place, limit);
  const unsearched = [...scope.unsearched, ...refused];
  const complete = !isUnfinished && unsearched.length === 0;
  return { files, nextCursor: next === null ? null : encodePlace(of, next), complete, unsearched, unreadable };
}

const UNFINISHED = "unfinished";

/** Files of all sources, best first, until the page is full. */
async function merge({ connection, query, options, deadline }: Asked, scope: Scope, from: SearchPlace, limit: number) {
  const { atService, tables } = scope;
  const local = new LocalSource(tables, wantedBy(query), from.local, limit);
  const named = new Map(
    atService.map((vaultId) => {
      const isElsewhere = (id: string): boolean => tables.has(id) || (vaultId !== id && atService.includes(id));
      const ofVault = vaultId === ACCOUNT ? {} : { vaultId };
      const asking = { connection, options, deadline, query: { ...query, ...ofVault }, isElsewhere };
      return [vaultId, new ServiceSource(asking, from.service[vaultId])] as const;
    }),
  );
  const sources: readonly Source[] = [local, ...named.values()];
  const files: FoundFile[] = [];
  const refused: UnsearchedVault[] = [];
  const headOf = async (source: Source, at: number): Promise<Found | null | typeof UNFINISHED> => {
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
      local: local.place,
      service: Object.fromEntries([...named].map(([vaultId, source]) => [vaultId, source.place])),
    };
    if (heads.includes(UNFINISHED)) return { files, next, isUnfinished: true, refused };
    const best = bestOf(heads as readonly (Found | null)[]);
    if (best === null) return { files, next: null, isUnfinished: false, refused };
    if (files.length === limit) return { files, next, isUnfinished: false, refused };
    files.push(best.found.file);
    sources[best.at]?.take();
  }
}

function bestOf(heads: readonly (Found | null)[]): { readonly found: Found; readonly at: number } | null {
  let best: { readonly found: Found; readonly at: number } | null = null;
  for (const [at, found] of heads.entries())
    if (found !== null && (best === null || comparePlaces(found, best.found) < 0)) best = { found, at };
  return best;
}

/** The named vault, or that of the named folder. Nothing is sent to the service before it is known who searches there. */
async function oneVault(asked: Asked): Promise<Scope> {
  const { connection, query, localOnly, options } = asked;
  const vaultId = await vaultOf(asked);
  const opened = await openOne(asked, vaultId);
  if (opened.by === "service") {
    if (localOnly)
      throw new ContractError("request", "client.search", ["localOnly: the service reads the names of this vault"]);
    return { ...NOTHING, atService: [vaultId] };
  }
  if (opened.table === null) return { ...NOTHING, unsearched: [{ vaultId, reason: UNFINISHED }] };
  const { folderId } = query;
  // The service's own error for a folder that is not there.
  if (folderId !== undefined && !opened.table.folders.has(folderId))
    await callOn(connection, foldersGroup.get, { params: { folderId } }, options);
  return { ...NOTHING, tables: new Map([[vaultId, opened.table]]) };
}

const NOTHING: Scope = { atService: [], tables: new Map(), unsearched: [], isAll: false };

async function vaultOf({ connection, query, options }: Asked): Promise<string> {
  const { vaultId, folderId } = query;
  if (connection.sharedVaults !== null) {
    const found = await (await sharedCode(connection)).findPlace(connection, { vaultId, folderId }, options);
    if (found !== null) return found.vaultId;
  }
  if (vaultId !== undefined) return vaultId;
  const params = { folderId: folderId ?? "" };
  return (await callOn(connection, foldersGroup.get, { params }, options)).folder.vaultId;
}

/** A client without `sharedVaults` learns from the service who reads the names. */
async function openOne({ connection, deadline, options }: Asked, vaultId: string): Promise<OpenedNames> {
  if (connection.sharedVaults !== null)
    return (await sharedCode(connection)).openNames(connection, vaultId, { deadline, options, isNamed: true });
  const { vault } = await callOn(connection, vaultsGroup.get, { params: { vaultId } }, options);
  if (isReadable(vault)) return { by: "service" };
  await sharedCode(connection);
  return { by: "client", table: null };
}

function isReadable({ type, plainNames }: Vault): boolean {
  return type === "public" || plainNames === true;
}

/** Every vault that the service lists, and those that an index was kept of. */
async function allVaults(asked: Asked): Promise<Scope> {
  const { connection, localOnly } = asked;
  const listed = await listVaults(asked);
  const names = connection.sharedVaults === null ? null : await sharedCode(connection);
  const kept = new Set(await names?.keptVaults(connection, listed));
  const atService = new Set<string>();
  const tables = new Map<string, NameTable>();
  const unsearched: UnsearchedVault[] = [];
  const left = [...new Set([...listed.keys(), ...kept])].values();
  const open = async (vaultId: string): Promise<void> => {
    const vault = listed.get(vaultId);
    if (names === null && vault !== undefined && !isReadable(vault))
      return void unsearched.push({ vaultId, reason: "shared_vault" });
    const isOpened = names !== null && (vault?.type === "shared" || kept.has(vaultId));
    const opened = isOpened ? await names.openNames(connection, vaultId, { ...asked, isNamed: false }) : null;
    if (vault === undefined) return requireTrashed(asked, vaultId);
    if (opened?.by !== "client") atService.add(vault?.role === "member" ? vaultId : ACCOUNT);
    else if (opened.table === null) unsearched.push({ vaultId, reason: UNFINISHED });
    else tables.set(vaultId, opened.table);
  };
  const lane = async (): Promise<void> => {
    for (const vaultId of left)
      await open(vaultId).catch((error: unknown) => {
        if (!(error instanceof SdkError) || error instanceof AbortError) throw error;
        unsearched.push({ vaultId, reason: error.code });
      });
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  unsearched.sort((one, other) => (one.vaultId < other.vaultId ? -1 : 1));
  return { atService: localOnly ? [] : [...atService].sort(), tables, unsearched, isAll: true };
}

/** The service does not list a vault whose index was kept, and which is still open. What is in its trash is not searched. */
async function requireTrashed({ connection, options }: Asked, vaultId: string): Promise<void> {
  const { vault } = await callOn(connection, vaultsGroup.get, { params: { vaultId } }, options);
  if (vault.trashedAt === null)
    throw new ContractError("response", vaultsGroup.list.id, [`vaults: ${vaultId} is missing`]);
}

/** Own vaults, and those of other accounts. */
async function listVaults({ connection, options }: Asked): Promise<ReadonlyMap<string, Vault>> {
  const found = new Map<string, Vault>();
  const list = async (shared: { readonly shared?: true }): Promise<void> => {
    const load = (place: PagePlace) =>
      callOn(connection, vaultsGroup.list, { query: { ...shared, limit: MAX_PAGE, ...place } }, options);
    for await (const { vaults } of everyPage(vaultsGroup.list.id, load, MOST_KEPT_PAGES))
      for (const vault of vaults) found.set(vault.id, vault);
  };
  await Promise.all([list({}), list({ shared: true })]);
  return found;
}
