/** Moves and restores of many items, some of them in shared vaults: each of those needs an entry of its own. */
import type { SharedEntry } from "@coffer/contract";
import { ApiError, SdkError } from "../../errors.ts";
import type { CallOptions, Connection, PlaceOptions } from "../../options.ts";
import { FILES, FOLDERS, type Item, type Items } from "../../resources/items.ts";
import type { ItemOutcome } from "../../part-error.ts";
import type { OpenVault } from "../open-vault.ts";
import { inVaultTerms } from "../vault-terms.ts";
import { restoreItem } from "./changes.ts";
import { makeEntry, noteOwnEntry, openItem, ownStatement, placeOf } from "./entries.ts";
import { findVaultOf, liesIn } from "./places.ts";
import { stageFolder } from "./staging.ts";

/** Items that are read and signed at the same time. */
const LANES = 16;

const ATTEMPTS = 5;

interface SignedMove {
  readonly vault: OpenVault;
  readonly shared: SharedEntry;
}

type Send = (ids: Iterable<string>, signed: ReadonlyMap<string, SharedEntry>) => Promise<ItemOutcome[]>;

/** Signs again what the service finds outdated, as a single move does. */
export async function moveSigned(
  connection: Connection,
  ids: readonly string[],
  folderId: string | null,
  send: Send,
  moving: PlaceOptions,
): Promise<ItemOutcome[]> {
  const outcomes = new Map<string, SdkError | null>();
  for (let [left, attempt] = [[...new Set(ids)], 1]; left.length > 0; attempt += 1) {
    const signed = new Map<string, SignedMove | null>();
    await eachOf(left, async (id) => {
      const move = await orError(signMove(connection, id, folderId, moving));
      if (move instanceof SdkError) outcomes.set(id, move);
      else signed.set(id, move);
    });
    const sendable = left.filter((id) => signed.has(id));
    const entries = new Map<string, SharedEntry>();
    for (const [id, move] of signed) if (move !== null) entries.set(id, move.shared);
    left = [];
    const renewals = new Map<string, SdkError | null>();
    for (const { id, error } of sendable.length === 0 ? [] : await send(sendable, entries)) {
      const move = signed.get(id) ?? null;
      outcomes.set(id, error);
      if (move === null) continue;
      if (error === null) noteOwnEntry(move.vault, id, ownStatement(move.shared));
      else if (attempt < ATTEMPTS && isOutdated(error)) {
        const renewal = `${move.vault.id} ${error.code}`;
        const known = renewals.get(renewal);
        const failure =
          known === undefined ? await orError(renew(connection, move.vault, error.code, folderId)) : known;
        renewals.set(renewal, failure);
        if (failure === null) left.push(id);
        else outcomes.set(id, failure);
      }
    }
  }
  return ids.map((id) => ({ id, error: outcomes.get(id) ?? null }));
}

function isOutdated({ code }: SdkError): boolean {
  return code === "generation_moved" || code === "names_outdated" || code === "statement_invalid";
}

async function renew(connection: Connection, vault: OpenVault, code: string, folderId: string | null): Promise<null> {
  if (code === "generation_moved") await vault.view({ maxAge: 0 });
  else if (code === "names_outdated") await stageFolder(connection, vault, folderId);
  // Somebody else's change or vault key came first: read both again.
  else vault.forgetWritingKey();
  return null;
}

/** null: the item is in a public vault. */
async function signMove(
  connection: Connection,
  id: string,
  folderId: string | null,
  { vaultId, ...options }: PlaceOptions,
): Promise<SignedMove | null> {
  return withItem(connection, id, options, async (items, item) => {
    const vault = await findVaultOf(connection, item, { ...options, vaultId, sends: false });
    if (folderId !== null) await liesIn(connection, folderId, item.vaultId);
    if (vault === null) return null;
    const { kind } = items;
    return inVaultTerms(async () => {
      const { metadata, statement: previous } = await openItem(vault, kind, item, placeOf(item));
      const view = await vault.view();
      const wanted = { kind, id, folderId, metadata, previous };
      return { vault, shared: await makeEntry(vault, view, await vault.writingKey(view), wanted) };
    });
  });
}

/** What the service refused because its entry does not fit any more comes back under a new one. */
export async function restoreUnderNewEntries(
  connection: Connection,
  outcomes: readonly ItemOutcome[],
  options: CallOptions = {},
): Promise<ItemOutcome[]> {
  const settled: ItemOutcome[] = [];
  for (const outcome of outcomes) {
    const { id, error } = outcome;
    if (error?.code !== "names_outdated") settled.push(outcome);
    else {
      const restored = await orError(
        withItem(connection, id, options, (items) => restoreItem(connection, items, id, undefined, options)),
      );
      settled.push({ id, error: restored instanceof SdkError ? restored : null });
    }
  }
  return settled;
}

/** The id says not which of both it is. */
async function withItem<Result>(
  connection: Connection,
  id: string,
  options: CallOptions,
  work: <Kind extends Item>(items: Items<Kind>, item: Kind) => Promise<Result>,
): Promise<Result> {
  const file = await orError(FILES.get(connection, id, options));
  if (!(file instanceof SdkError)) return work(FILES, file);
  if (!(file instanceof ApiError) || file.status !== 404) throw file;
  return work(FOLDERS, await FOLDERS.get(connection, id, options));
}

async function eachOf(ids: readonly string[], work: (id: string) => Promise<void>): Promise<void> {
  for (let at = 0; at < ids.length; at += LANES) await Promise.all(ids.slice(at, at + LANES).map(work));
}

async function orError<Value>(work: Promise<Value>): Promise<Value | SdkError> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof SdkError) return error;
    throw error;
  }
}
