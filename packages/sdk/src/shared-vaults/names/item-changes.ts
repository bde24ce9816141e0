/** Renaming, moving, restoring and making folders in shared vaults: each is a new signed entry (file-format §8). */
import { foldersGroup, type Folder, type SharedEntry } from "@coffer/contract";
import type { Metadata } from "@coffer/crypto";
import { callOn } from "../../http/call.ts";
import { chosenName } from "../../http/chosen-name.ts";
import { ApiError, SdkError } from "../../http/errors.ts";
import { CHANGE_ATTEMPTS } from "../../http/retry.ts";
import { unlessStored } from "../../http/repeated-change.ts";
import { FOLDERS, type Item, type ItemChange, type Items, ifMatchHeader } from "../../storage/items.ts";
import type { Connection, CallOptions, UpdateOptions } from "../../connection/options.ts";
import { Condition } from "../condition.ts";
import { makeEntry, recordOwnEntry, openItem, ownStatement, placeOf } from "./entries.ts";
import { isEntryStored } from "./entry-history.ts";
import { openLatest } from "./latest-item.ts";
import { nameOne } from "./name-reader.ts";
import type { OpenVault } from "../open-vault.ts";
import { findPlace, findVaultOf, liesIn, requireCreated } from "./vault-finder.ts";
import { refreshFor } from "./refresh.ts";
import type { StagedEntries } from "./name-stager.ts";
import { vaultError } from "../vault-error.ts";
import { inVaultTerms } from "../vault-terms.ts";

/**
 * null: the item is in a public vault.
 * @throws ApiError `precondition_failed` if the item is not in the state that `ifMatch` names, or that was read here.
 */
export async function updateItem<Kind extends Item>(
  connection: Connection,
  items: Items<Kind>,
  id: string,
  change: ItemChange,
  { ifMatch, vaultId, idempotencyKey: _, ...options }: UpdateOptions = {},
): Promise<Kind | null> {
  const item = await items.get(connection, id, options);
  const { parentId } = change;
  const vault = await findVaultOf(connection, item, { ...options, vaultId, sends: change.name !== undefined });
  if (parentId != null) await liesIn(connection, parentId, item.vaultId);
  if (vault === null) return null;
  const name = change.name === undefined ? undefined : chosenName(items.updateId, change.name);
  const condition = new Condition(ifMatch, item.shared);
  const updated = await withEntry(connection, vault, items, item, { name, parentId }, condition, (entry) => {
    const sent = { ...entry, ...(parentId === undefined ? {} : { parentId }) };
    return items.update(connection, id, sent, {}, options);
  });
  return nameOne(connection, items, updated, { ...options, vaultId: vault.id });
}

/** The same name in the same place, under the vault's key of now: for a rotation, with the key that it writes under. */
export async function renewEntry<Kind extends Item>(
  connection: Connection,
  vault: OpenVault,
  items: Items<Kind>,
  id: string,
  options: CallOptions,
): Promise<void> {
  const item = await items.get(connection, id, options);
  const condition = new Condition(undefined, item.shared);
  await withEntry(connection, vault, items, item, {}, condition, (entry) =>
    items.update(connection, id, entry, {}, options),
  );
}

/** null: for clients without `sharedVaults`. */
export async function createFolder(
  connection: Connection,
  {
    name,
    vaultId,
    parentId = null,
  }: { readonly name?: string | undefined; readonly vaultId?: string | undefined } & ItemChange,
  options?: CallOptions,
): Promise<Folder | null> {
  const place = await findPlace(connection, { vaultId, folderId: parentId ?? undefined }, options);
  if (place === null || name === undefined) return null;
  if (place.vault !== null) {
    const stored = chosenName(foldersGroup.create.id, name);
    return createIn(connection, place.vault, { name: stored, parentId }, options);
  }
  const body = { name, parentId, vaultId: place.vaultId };
  const { folder } = await callOn(connection, foldersGroup.create, { body }, options);
  await requireCreated(connection, place.vaultId, folder);
  return folder;
}

async function createIn(
  connection: Connection,
  vault: OpenVault,
  { name, parentId }: { readonly name: string; readonly parentId: string | null },
  options?: CallOptions,
): Promise<Folder> {
  const id = crypto.randomUUID();
  const make = async (): Promise<Folder> => {
    const view = await vault.view();
    const metadata = { name, contentType: "", size: 0 };
    const draft = { kind: "folder", id, folderId: parentId, metadata, previous: null } as const;
    const shared = await makeEntry(vault, view, await vault.writingKey(view, "new"), draft);
    const body = { vaultId: vault.id, parentId, shared, ...(view.plainNames ? { name } : {}) };
    const created = await unlessStored(callOn(connection, foldersGroup.create, { body }, options), () =>
      findCreated(connection, id, shared),
    );
    if (created.folder.id !== id)
      throw vaultError(
        "damaged",
        `The service answers with folder ${created.folder.id}, which is not the one that was made`,
      );
    recordOwnEntry(vault, id, ownStatement(shared));
    return created.folder;
  };
  const folder = await inVaultTerms(() => withRetries(connection, vault, { folderId: () => parentId }, make));
  return nameOne(connection, FOLDERS, folder, options);
}

/** The folder with that entry; false: there is none. */
async function findCreated(
  connection: Connection,
  id: string,
  { entry }: SharedEntry,
): Promise<{ readonly folder: Folder } | false> {
  try {
    const folder = await FOLDERS.get(connection, id);
    return folder.shared?.entry === entry && { folder };
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}

/** null: the item is in a public vault. */
export async function restoreItem<Kind extends Item>(
  connection: Connection,
  items: Items<Kind>,
  id: string,
  name: string | undefined,
  { ifMatch, vaultId, idempotencyKey: _, ...options }: UpdateOptions = {},
): Promise<Kind | null> {
  const item = await items.get(connection, id, options);
  const vault = await findVaultOf(connection, item, { ...options, vaultId, sends: name !== undefined });
  if (vault === null) return null;
  const condition = new Condition(ifMatch, item.shared);
  // What is signed is its own condition. The old entry is not signed again: the service's word has to do.
  const send = (body: EntryBody) =>
    items.restore(connection, id, body, body.shared === undefined ? ifMatchHeader(ifMatch) : {}, options);
  const stored = name === undefined ? undefined : chosenName(items.restoreId, name);
  const restored = await restore(connection, vault, items, item, stored, condition, send);
  return nameOne(connection, items, restored, { ...options, vaultId: vault.id });
}

/** Under its old entry, if that still fits. Else under a new one, in its old folder or at the top if that is gone. */
async function restore<Kind extends Item>(
  connection: Connection,
  vault: OpenVault,
  items: Items<Kind>,
  item: Kind,
  name: string | undefined,
  condition: Condition,
  send: (body: EntryBody) => Promise<Kind>,
): Promise<Kind> {
  if (name === undefined) {
    try {
      return await send({});
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "names_outdated") throw error;
    }
  }
  const { statement } = await inVaultTerms(() =>
    openLatest(
      item,
      () => items.get(connection, item.id),
      (latest) => openItem(vault, items.kind, latest, placeOf(latest)),
    ),
  );
  const { folderId } = statement;
  const parentId = (await isLive(connection, folderId)) ? folderId : null;
  return withEntry(connection, vault, items, item, { name, parentId }, condition, send);
}

async function isLive(connection: Connection, folderId: string | null): Promise<boolean> {
  if (folderId === null) return true;
  try {
    return (await FOLDERS.get(connection, folderId)).trashedAt === null;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}

/** The parts of a body with place and name: the name only where names are plain. */
interface EntryBody {
  readonly shared?: Awaited<ReturnType<typeof makeEntry>>;
  readonly name?: string;
}

/** Unchanged parts stay as they were signed: with the service's word about the place, the service could move the item. */
async function withEntry<Kind extends Item>(
  connection: Connection,
  vault: OpenVault,
  items: Items<Kind>,
  item: Kind,
  { name, parentId }: ItemChange,
  condition: Condition,
  send: (body: EntryBody) => Promise<Kind>,
): Promise<Kind> {
  const { kind } = items;
  const { id } = item;
  let folderId = parentId ?? null;
  let isFirst = true;
  const attempt = async (): Promise<Kind> => {
    // The current entry may be another one by now: the condition decides whether the new statement may name that one.
    const current = isFirst ? item : await items.get(connection, id);
    isFirst = false;
    const opened = await openLatest(
      current,
      () => items.get(connection, id),
      (latest) => {
        condition.require(latest.shared);
        return openItem(vault, kind, latest, placeOf(latest));
      },
    );
    if (parentId === undefined) ({ folderId } = opened.statement);
    const view = await vault.view();
    const metadata: Metadata = { ...opened.metadata, name: name ?? opened.metadata.name };
    const draft = { kind, id, folderId, metadata, previous: opened.statement };
    const shared = await makeEntry(vault, view, await vault.writingKey(view, "again"), draft);
    const body = { shared, ...(view.plainNames ? { name: metadata.name } : {}) };
    const changed = await unlessStored(send(body), async () => {
      const now = await items.get(connection, id);
      const stored = await isEntryStored(connection, vault, kind, now, ownStatement(shared));
      return stored === true ? now : stored;
    });
    recordOwnEntry(vault, id, ownStatement(shared));
    return changed;
  };
  const onStaged = (staged: StagedEntries) => {
    condition.acceptStaged(staged, id);
  };
  return inVaultTerms(() => withRetries(connection, vault, { folderId: () => folderId, onStaged }, attempt));
}

/** Tries again with a new entry after the vault's generation moved, or the folder's names were under another key. */
async function withRetries<Result>(
  connection: Connection,
  vault: OpenVault,
  {
    folderId,
    onStaged,
  }: { readonly folderId: () => string | null; readonly onStaged?: (staged: StagedEntries) => void },
  work: () => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      // If it was perhaps done, nothing is done again.
      if (attempt >= CHANGE_ATTEMPTS || !(error instanceof SdkError) || error.perhapsDone) throw error;
      const staged = await refreshFor(error.code, connection, vault, folderId());
      if (staged === null) throw error;
      onStaged?.(staged);
    }
  }
}
