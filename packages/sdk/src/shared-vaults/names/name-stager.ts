/** Bringing a folder's names under the vault's current key, so that new ones can be beside them (encryption design §2, names). */
import { folderNamesGroup, MAX_STAGED, type SharedEntry } from "@coffer/contract";
import { callOn } from "../../http/call.ts";
import { toHex } from "../../transfer/digest.ts";
import type { Connection } from "../../connection/options.ts";
import { FILES, FOLDERS, type Item } from "../../storage/items.ts";
import { makeEntry, openItem, openKeysOf, placeOf, type OpenedItem } from "./entries.ts";
import { openLatest } from "./latest-item.ts";
import type { OpenVault, WritingKey } from "../open-vault.ts";
import { comparePlaces, type VaultView } from "@coffer/crypto";
import { vaultError } from "../vault-error.ts";
import { toVaultError } from "../vault-terms.ts";
import { VaultError } from "../../http/errors.ts";
import { CHANGE_ATTEMPTS } from "../../http/retry.ts";

/** Entries that this client has signed, by the id of their item. */
export type StagedEntries = ReadonlyMap<string, SharedEntry>;

/**
 * Stages every live entry of the folder under the current key, until the service has changed the folder to it. Several
 * clients may do it at once: each finishes the others' work. Returns the entries of this client, which the items have
 * unless another one's came first.
 */
export async function stageFolder(
  connection: Connection,
  vault: OpenVault,
  folderId: string | null,
): Promise<StagedEntries> {
  for (let round = 0; round < CHANGE_ATTEMPTS; round += 1) {
    const view = await vault.view({ maxAge: 0 });
    const writing = await vault.writingKey(view, "again");
    const staged = await stageOnce(connection, vault, view, writing, folderId);
    if (staged !== null) return staged;
  }
  throw vaultError("generation_moved", "The folder kept changing while its names were brought under the current key", {
    nextStep: "Repeat it when fewer clients write into the folder.",
  });
}

/** null: the folder is not under the key yet. */
async function stageOnce(
  connection: Connection,
  vault: OpenVault,
  view: VaultView,
  writing: WritingKey,
  folderId: string | null,
): Promise<StagedEntries | null> {
  const keyId = toHex(writing.record.keyId);
  const staged = new Map<string, SharedEntry>();
  let changed = false;
  for await (const piece of entriesOf(connection, vault, view, writing, folderId)) {
    const body = { folderId, keyId, entries: [...piece.values()] };
    const answer = await callOn(connection, folderNamesGroup.stage, { params: { vaultId: vault.id }, body });
    changed = answer.keyId === keyId;
    for (const [id, entry] of piece) staged.set(id, entry);
  }
  return changed ? staged : null;
}

/**
 * The folder's live entries under the current key, in pieces for one call each; at least one piece, which may be
 * empty. It stops at an entry of a later place. It notes that one now, and the next round has a key of it.
 */
async function* entriesOf(
  connection: Connection,
  vault: OpenVault,
  view: VaultView,
  writing: WritingKey,
  folderId: string | null,
): AsyncGenerator<StagedEntries, void, undefined> {
  let piece = new Map<string, SharedEntry>();
  for await (const { kind, items: shown } of pagesOf(connection, vault.id, folderId)) {
    await openKeysOf(vault, shown);
    for (const item of shown) {
      const opened = await openOrName(connection, vault, kind, item, folderId);
      if (opened === null) continue;
      const { statement, metadata } = opened;
      if (comparePlaces(writing.record, statement) < 0) return;
      const draft = { kind, id: item.id, folderId, metadata, previous: statement };
      piece.set(item.id, await makeEntry(vault, view, writing, draft));
      if (piece.size === MAX_STAGED) {
        yield piece;
        piece = new Map();
      }
    }
  }
  yield piece;
}

/**
 * null: it has left the folder meanwhile. One entry that is not true keeps the folder under its old key: a user who may delete it must
 * learn which one it is.
 */
async function openOrName(
  connection: Connection,
  vault: OpenVault,
  kind: ItemPage["kind"],
  item: Item,
  folderId: string | null,
): Promise<OpenedItem | null> {
  const readAgain = (): Promise<Item> => (kind === "file" ? FILES : FOLDERS).get(connection, item.id);
  try {
    return await openLatest(item, readAgain, async (latest) =>
      latest === item || placeOf(latest) === folderId ? openItem(vault, kind, latest, folderId) : null,
    );
  } catch (error) {
    const failure = toVaultError(error);
    if (!(failure instanceof VaultError) || failure.step === null) throw failure;
    const message = `The ${kind} ${item.id} keeps the folder's names under an old key: ${failure.message}`;
    const nextStep = `Move the ${kind} ${item.id} to the trash, then repeat it.`;
    throw vaultError(failure.code, message, { nextStep, step: failure.step, cause: error });
  }
}

interface ItemPage {
  readonly kind: "file" | "folder";
  readonly items: readonly Item[];
}

async function* pagesOf(
  connection: Connection,
  vaultId: string,
  folderId: string | null,
): AsyncGenerator<ItemPage, void, undefined> {
  const query = { vaultId, parentId: folderId ?? "root", limit: MAX_STAGED };
  for (const items of [FILES, FOLDERS] as const)
    for await (const shown of items.list(connection, query)) yield { kind: items.kind, items: shown };
}
