/** Files and folders of shared vaults with the names and sizes that only members can read. */
import { parseVersionStatement } from "@coffer/crypto";
import { fromBase64 } from "../../transfer/digest.ts";
import { isAnswered, SdkError, VaultError } from "../../http/errors.ts";
import type { Connection, CallOptions } from "../../connection/options.ts";
import type { Item, Items } from "../../storage/items.ts";
import { tagged } from "../../http/tag.ts";
import { isUnnamed, unnamed } from "../../storage/unnamed-item.ts";
import { tagOf } from "../condition.ts";
import { authorsOf } from "./authors.ts";
import { openItem, type OpenedItem, openKeysOf, placeOf } from "./entries.ts";
import type { OpenVault } from "../open-vault.ts";
import { liesIn, requireVault, type HeldOptions } from "./vault-finder.ts";
import { vaultError } from "../vault-error.ts";
import { toVaultError } from "../vault-terms.ts";
import { vaultRegistry } from "../client-vaults.ts";

/** What non-members see: ids, stored sizes, dates (decisions §0). */
const CLOSED: ReadonlySet<string> = new Set([
  ...["not_a_member", "membership_ended", "key_servers_unavailable", "key_servers_behind"],
]);
/** Errors of one entry, which prove nothing about the others. */
const UNTRUSTED: ReadonlySet<string> = new Set([
  ...["damaged", "wrong_key", "rolled_back", "not_encrypted", "unsupported_version", "unsupported_suite"],
]);

/** The query of a list: in a shared vault each item must match it. */
export interface ListQuery {
  readonly vaultId?: string | undefined;
  /** The id of their folder; `root` for the top of the vault. */
  readonly folderId?: string | undefined;
  readonly name?: string | undefined;
  readonly trashed?: boolean | undefined;
}

/**
 * Each item with its name, content type and size, if this client can open it. If not, without them, and with the
 * reason in `unreadable`. An item that is not true, or was not asked for, does not hide the others.
 * @throws VaultError `damaged` for another name than the requested one, because the caller goes on with the file that
 * it finds.
 */
export async function nameItems<Kind extends Item>(
  connection: Connection,
  items: Items<Kind>,
  listed: readonly Kind[],
  query: ListQuery,
  options?: CallOptions,
): Promise<Kind[]> {
  const { folderId = "root" } = query;
  const name = leniently(nameOf(connection, items, placeIn(query)));
  const registry = vaultRegistry(connection);
  const findHome = await registry.homes.read();
  // Nothing leaves its vault: an item is in the vault of its folder.
  const home = query.vaultId ?? (folderId === "root" ? undefined : findHome(folderId)?.vaultId);
  const isOwn = ({ id, vaultId }: Kind): boolean =>
    (home ?? vaultId) === vaultId && (findHome(id)?.vaultId ?? vaultId) === vaultId;
  const own = listed.filter((item) => !isUnnamed(item) && isOwn(item));
  const named = new Map<Kind, Kind>();
  for (const vaultId of new Set(own.map((item) => item.vaultId))) {
    // Only the caller's own word pins a vault: no list does.
    const vault = await (vaultId === query.vaultId
      ? registry.find(vaultId, options)
      : registry.findUnpinned(vaultId, options));
    const there = own.filter((item) => item.vaultId === vaultId);
    for (const [at, item] of (await nameVault(vault, there, name)).entries()) named.set(there[at] ?? item, item);
  }
  const list = listed.map((item) => named.get(item) ?? (isUnnamed(item) ? item : unnamed(item, "vault_changed")));
  const queriedName = query.name?.normalize("NFC");
  if (queriedName !== undefined && list.some((item) => isMisnamed(item, queriedName)))
    throw vaultError("damaged", "The service answers with another name than the one that was asked for", {
      step: "entry",
    });
  return list;
}

/**
 * The requested item, in the vault where it was found before: the caller that named its id gets its errors.
 * @throws VaultError `damaged`, `rolled_back`, …
 */
export async function nameOne<Kind extends Item>(
  connection: Connection,
  items: Items<Kind>,
  item: Kind,
  { vaultId = item.vaultId, ...options }: HeldOptions = {},
): Promise<Kind> {
  requireVault(item, vaultId);
  await liesIn(connection, item.id, vaultId);
  const vault = await vaultRegistry(connection).findUnpinned(item.vaultId, options);
  return (await nameVault(vault, [item], nameOf(connection, items)))[0] ?? item;
}

type FolderOf = (item: Item) => string | null;

/** Where an item of a list must be: in the requested folder, whatever the service shows. */
function placeIn({ folderId, trashed = false }: ListQuery): FolderOf {
  if (folderId === undefined || trashed) return placeOf;
  return () => (folderId === "root" ? null : folderId);
}

/** Names of public vaults are the service's own. */
function isMisnamed(item: Item, queriedName: string): boolean {
  return item.name.normalize("NFC") !== queriedName && (item.shared !== null || isUnnamed(item));
}

/**
 * Somebody on this machine may have changed the item since the service showed it. If so, this reads it once more: the
 * item is not older, it only was.
 */
function nameOf<Kind extends Item>(connection: Connection, items: Items<Kind>, place: FolderOf = placeOf): Name<Kind> {
  return async (vault, shown) => {
    try {
      return named(items, shown, await openItem(vault, items.kind, shown, place(shown)));
    } catch (error) {
      const failure = toVaultError(error);
      if (!(failure instanceof VaultError) || failure.code !== "rolled_back") throw error;
      const newest = await items.get(connection, shown.id).catch((reason: unknown) => {
        throw isAnswered(reason) ? error : reason;
      });
      const opened = await openItem(vault, items.kind, newest, placeOf(newest));
      // The item was moved: the answer that shows it in the requested place is the older one.
      if (opened.statement.folderId !== place(newest)) throw error;
      return named(items, newest, opened);
    }
  };
}

function named<Kind extends Item>(items: Items<Kind>, item: Kind, { statement, metadata }: OpenedItem): Kind {
  return { ...items.named(item, metadata), ...authorsOf(statement), ...stateOf(item) };
}

/** What a change may name the item by: not the service's word, but what the statements say that were read here. */
function stateOf({ shared }: Item): { readonly tag?: string; readonly versionId?: string } {
  if (shared === null) return {};
  const version = "version" in shared ? fromBase64(shared.version) : null;
  return { tag: tagOf(shared), ...(version !== null && { versionId: parseVersionStatement(version).versionId }) };
}

async function nameVault<Kind extends Item>(
  vault: OpenVault | null,
  items: readonly Kind[],
  name: Name<Kind>,
): Promise<readonly Kind[]> {
  if (vault === null) {
    requirePublic(items);
    return items.map(tagged);
  }
  try {
    await openKeysOf(vault, items);
    const list = await Promise.all(items.map((item) => name(vault, item)));
    await vault.seen.flush();
    return list;
  } catch (error) {
    const failure = toVaultError(error);
    if (isClosed(failure)) return items.map((item) => unnamed(item, failure.code));
    throw failure;
  }
}

type Name<Kind> = (vault: OpenVault, item: Kind) => Promise<Kind>;

function leniently<Kind extends Item>(name: Name<Kind>): Name<Kind> {
  return async (vault, item) => {
    try {
      return await name(vault, item);
    } catch (error) {
      const failure = toVaultError(error);
      if (failure instanceof SdkError && isOfOne(failure)) return unnamed(item, failure.code);
      throw failure;
    }
  };
}

/** This client cannot open the vault. */
export function isClosed(failure: unknown): failure is SdkError {
  return failure instanceof SdkError && CLOSED.has(failure.code);
}

/** Another vault's entry is one item's error; another owner or object is the vault's. */
export function isOfOne(failure: SdkError): boolean {
  return UNTRUSTED.has(failure.code) || (failure instanceof VaultError && failure.step === "pins");
}

/** A vault that was pinned as public holds nothing encrypted: a service that says so now contradicts itself. */
function requirePublic(items: readonly Item[]): void {
  if (items.some(({ shared }) => shared !== null))
    throw vaultError("vault_changed", "The service calls a vault shared that was public when it was first met");
}
