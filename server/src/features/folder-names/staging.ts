/**
 * A folder changes to another key. Its entries' names wait under that key until every live one does, and then all
 * change together. So two names of a folder are never under keys that cannot be compared (encryption design §2,
 * "Names").
 */
import { setImmediate } from "node:timers/promises";
import type { SharedEntry, SharedFile } from "@coffer/contract";
import type { Principal } from "../../handler.ts";
import { isTaken, type Queries } from "../../ports/database.ts";
import type { StagedNameRow } from "../../ports/tables.ts";
import { ServiceError } from "../../service-error.ts";
import { type AccountAct, actAs } from "../account/act.ts";
import { untilNoneIsLeft } from "../in-pieces.ts";
import type { Place } from "../reach/places.ts";
import { type Permits, withPermits } from "../reach/permits.ts";
import { readVaultFor, requireWriter, type SeenVault, type Writer } from "../reach/access.ts";
import { parseEntryStatement } from "../shared-vaults/statements.ts";
import { refuseInTree } from "../tree-acts/acts.ts";
import { findCurrentKey } from "../vault-keys/store.ts";
import { parseLoneEntry, requireFittingEntry, type SignedEntry } from "./entries.ts";
import { countUnstaged, dropSomeStaged, dropStagedName, dropStagedUnderOthers, putStaged } from "./staged-store.ts";
import {
  findEntry,
  findFolderKey,
  findKeyPlace,
  type FolderOfVault,
  type LiveEntry,
  nameEntry,
  setFolderKey,
} from "./store.ts";
import { entriesToName, listLeft, type NamedEntry, type SwitchingFolder } from "./switching-store.ts";
import type { Deps } from "../../deps.ts";

export interface Staging {
  /** null: the top of the vault. */
  readonly folderId: string | null;
  /** The key to change to. */
  readonly keyId: string;
  readonly entries: readonly SharedEntry[];
}

export interface Staged {
  readonly folderId: string | null;
  readonly keyId: string | null;
  readonly remaining: number;
}

/**
 * Keeps what fits the folder's entries as they are now, and switches the folder once nothing is missing. An entry that has changed
 * meanwhile, or is there no more, is passed over: it counts as remaining, if it is there.
 * @throws ServiceError `not_a_member`, `statement_invalid`, `generation_moved`, `tree_busy`, `name_exists` for two names that are one.
 */
export async function stageNames(
  deps: FolderNamesDeps,
  principal: Principal,
  vault: SeenVault,
  staging: Staging,
): Promise<Staged> {
  if (vault.plain_names === 1)
    throw new ServiceError("validation_failed", "This vault has plain names: there are no indexes to change");
  const signed = parseEntries(staging);
  const place = await findKeyPlace(deps.database, { vaultId: vault.id, keyId: staging.keyId });
  if (place === null) throw new ServiceError("statement_invalid", "body.keyId: the vault has no such key");
  const writer = await requireWriter(deps, principal, vault, { place });
  const rows = await checkEntries(deps.database, { vault, writer, place, staging, signed });
  const staged = await withPermits(deps, principal, (permits) =>
    stageOrForget(deps, principal, { vaultId: vault.id, place, staging, rows, permits }),
  );
  if (staged.remaining === 0) await clearUsed(deps, { vaultId: vault.id, folderId: staging.folderId ?? "" }, staging);
  return staged;
}

function parseEntries({ folderId, keyId, entries }: Staging): SignedEntry[] {
  const signed = entries.map(parseLoneEntry);
  for (const { statement } of signed) {
    if (statement.folderId !== folderId) throw new ServiceError("statement_invalid", "entry: it names another folder");
    if (statement.keyId !== keyId) throw new ServiceError("statement_invalid", "entry: it names another vault key");
  }
  if (new Set(signed.map(({ statement }) => statement.id)).size < signed.length)
    throw new ServiceError("validation_failed", "body.entries: one entry is there twice");
  return signed;
}

/** How many signatures are verified before other requests have their turn. */
const AT_ONCE = 16;

/** The rows to write, of entries that follow what their items have now. */
async function checkEntries(
  queries: Queries,
  checked: { vault: SeenVault; writer: Writer; place: Place; staging: Staging; signed: readonly SignedEntry[] },
): Promise<StagedNameRow[]> {
  const { vault, writer, place, staging, signed } = checked;
  await requireCurrentKey(queries, vault, { keyId: staging.keyId, place });
  const rows: StagedNameRow[] = [];
  for (const [index, entry] of signed.entries()) {
    if (index % AT_ONCE === AT_ONCE - 1) await setImmediate();
    const { kind, id } = entry.statement;
    const item = await findEntry(queries, kind, { vaultId: vault.id, id });
    if (item === null || item.folder_id !== staging.folderId || !follows(entry.shared.entry, item)) continue;
    const wanted = { kind, id, folderId: staging.folderId, old: entryOf(item) };
    await requireFittingEntry(queries, vault, writer, { signed: entry, wanted });
    rows.push({
      vault_id: vault.id,
      folder_id: staging.folderId ?? "",
      key_id: staging.keyId,
      kind,
      item_id: id,
      entry: entry.shared.entry,
      metadata: entry.shared.metadata,
      name_index: entry.shared.nameIndex,
    });
  }
  return rows;
}

async function requireCurrentKey(
  queries: Queries,
  vault: SeenVault,
  { keyId, place }: { readonly keyId: string; readonly place: Place },
): Promise<void> {
  const current = await findCurrentKey(queries, { vaultId: vault.id, ...place });
  if (current?.key_id !== keyId)
    throw new ServiceError("statement_invalid", "body.keyId: it is not the current vault key of its place");
}

interface Switching {
  readonly vaultId: string;
  readonly place: Place;
  readonly staging: Staging;
  readonly rows: readonly StagedNameRow[];
  readonly permits: Permits;
}

/** Where entries turn out to have changed since they were staged, what was staged of them is forgotten, and nothing is switched. */
async function stageOrForget(deps: FolderNamesDeps, principal: Principal, switching: Switching): Promise<Staged> {
  try {
    return await actAs(deps, principal, (act) => stageAndSwitch(act, principal, switching));
  } catch (error) {
    if (!(error instanceof OutdatedNames)) throw error;
    const { ids } = error;
    return await actAs(deps, principal, (act) => stageAndSwitch(act, principal, switching, ids));
  }
}

async function stageAndSwitch(
  act: AccountAct,
  principal: Principal,
  { vaultId, place, staging, rows, permits }: Switching,
  outdated: readonly string[] = [],
): Promise<Staged> {
  const { folderId, keyId } = staging;
  const vault = await readVaultFor(act, principal, vaultId);
  act.requireAccount(vault.account_id);
  permits.write(vault, place);
  await refuseInTree(act, vaultId, staging.folderId);
  await requireCurrentKey(act, vault, { keyId, place });
  const folder = { accountId: vault.account_id, vaultId, folderId: folderId ?? "" };
  const held = await findFolderKey(act, folder);
  if (held === keyId) return { folderId, keyId, remaining: 0 };
  await dropStagedUnderOthers(act, folder, keyId);
  for (const row of rows) await putStaged(act, row);
  if (outdated.length > 0) {
    for (const itemId of [...outdated, ...(await listLeft(act, folder, keyId))])
      await dropStagedName(act, folder, { keyId, itemId });
    return { folderId, keyId: held, remaining: outdated.length };
  }
  const remaining = await countUnstaged(act, folder, keyId);
  if (remaining > 0) return { folderId, keyId: held, remaining };
  await nameAll(act, folder, keyId);
  await setFolderKey(act, folder, keyId);
  await act.record({
    action: "vault.names_changed",
    actor: principal,
    target: folderId === null ? { kind: "vault", id: vaultId, vaultId } : { kind: "folder", id: folderId, vaultId },
  });
  return { folderId, keyId, remaining: 0 };
}

/** Ends the transaction that found them; never leaves {@link stageOrForget}. */
class OutdatedNames extends Error {
  override readonly name = "OutdatedNames";
  /** Live entries without a fitting staged name; at least one. */
  readonly ids: readonly string[];
  constructor(ids: readonly string[]) {
    super("entries have changed since they were staged");
    this.ids = ids;
  }
}

/**
 * Gives every live entry its new name: other writers wait meanwhile (decision 0024).
 * @throws OutdatedNames when some have changed since they were staged, or were not.
 */
async function nameAll(act: Queries, folder: SwitchingFolder, keyId: string): Promise<void> {
  const outdated: string[] = [];
  for await (const item of entriesToName(act, folder, keyId)) {
    if (item.staged === null || !follows(item.staged.entry, item)) outdated.push(item.id);
    else if (outdated.length === 0) await rename(act, item, item.staged);
  }
  if (outdated.length > 0) throw new OutdatedNames(outdated);
}

async function rename(act: Queries, item: LiveEntry, staged: NonNullable<NamedEntry["staged"]>): Promise<void> {
  const named = { entry: staged.entry, metadata: staged.metadata, nameIndex: staged.name_index };
  const sharedJson = JSON.stringify({ ...sharedOf(item), ...named });
  try {
    await nameEntry(act, item.kind, { id: item.id, name: staged.name_index, sharedJson });
  } catch (cause) {
    if (!isTaken(cause)) throw cause;
    throw new ServiceError("name_exists", "Two entries of the folder have one name index under this key", { cause });
  }
}

/**
 * The staged names are the entries' own now. They are cleared after the switch, in short transactions. If that is cut
 * off, a repeated call goes on, and so does the next change of the folder's key.
 */
async function clearUsed({ database }: FolderNamesDeps, folder: FolderOfVault, { keyId }: Staging): Promise<void> {
  await untilNoneIsLeft(() =>
    database.transaction((transaction) => dropSomeStaged(transaction, folder, keyId), { freesSpace: true }),
  );
}

/** Whether the entry is the successor of the one that the item has. */
function follows(entry: string, item: Pick<LiveEntry, "shared_json">): boolean {
  const { digest, revision } = parseEntryStatement(sharedOf(item).entry);
  const next = parseEntryStatement(entry);
  return next.previous === digest && next.revision === revision + 1;
}

function entryOf(item: Pick<LiveEntry, "shared_json">): { entry: string } {
  return { entry: sharedOf(item).entry };
}

function sharedOf({ shared_json }: Pick<LiveEntry, "shared_json">): SharedFile | SharedEntry {
  if (shared_json === null) throw new Error("an entry of a shared vault has no statement");
  return JSON.parse(shared_json) as SharedFile | SharedEntry;
}

export type FolderNamesDeps = Pick<Deps, "database" | "clock" | "random" | "chain">;
