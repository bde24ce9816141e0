/** Moves and restores of many items, some of them in shared vaults: each of those needs an entry of its own. */
import type { SharedEntry } from "@coffer/contract";
import { ApiError, SdkError } from "../../http/errors.ts";
import { CHANGE_ATTEMPTS } from "../../http/retry.ts";
import type { CallOptions, ConditionedItem, Connection, PlaceOptions } from "../../connection/options.ts";
import { FILES, FOLDERS, type Item, type Items } from "../../storage/items.ts";
import type { ItemOutcome } from "../../http/part-error.ts";
import { Condition } from "../condition.ts";
import type { OpenVault } from "../open-vault.ts";
import { inVaultTerms } from "../vault-terms.ts";
import { restoreItem } from "./item-changes.ts";
import { makeEntry, recordOwnEntry, openItem, ownStatement, placeOf } from "./entries.ts";
import { findVaultOf, liesIn } from "./vault-finder.ts";
import { isEntryStored } from "./entry-history.ts";
import { openLatest } from "./latest-item.ts";
import { refreshFor } from "./refresh.ts";
import type { StagedEntries } from "./name-stager.ts";

/** Items that are read and signed at the same time. */
const LANES = 16;

interface SignedMove {
  readonly vault: OpenVault;
  readonly shared: SharedEntry;
}

type Send = (items: readonly ConditionedItem[], signed: ReadonlyMap<string, SharedEntry>) => Promise<ItemOutcome[]>;

/** Signs again what the service finds outdated, as a single move does: each under its own condition. */
export async function moveSigned(
  connection: Connection,
  items: readonly ConditionedItem[],
  folderId: string | null,
  send: Send,
  moving: PlaceOptions,
): Promise<ItemOutcome[]> {
  const outcomes = new Map<string, SdkError | null>();
  const moves = new Map(items.map((item) => [item.id, new Move(connection, item, folderId, moving)]));
  for (let [pending, attempt] = [[...moves.values()], 1]; pending.length > 0; attempt += 1) {
    const signed = new Map<string, SignedMove | null>();
    await eachOf(pending, async (one) => {
      const move = await orError(one.sign());
      if (move instanceof SdkError) outcomes.set(one.item.id, move);
      else signed.set(one.item.id, move);
    });
    const sendable = pending.flatMap(({ item }) => (signed.has(item.id) ? [item] : []));
    const entries = new Map<string, SharedEntry>();
    for (const [id, move] of signed) if (move !== null) entries.set(id, move.shared);
    pending = [];
    const renewals = new Map<string, SdkError | StagedEntries>();
    for (const { id, error } of sendable.length === 0 ? [] : await send(sendable, entries)) {
      const [move, signing] = [signed.get(id) ?? null, moves.get(id)];
      outcomes.set(id, error);
      if (move === null || signing === undefined) continue;
      if (error === null) recordOwnEntry(move.vault, id, ownStatement(move.shared));
      else if (isOutdated(error)) {
        // A request whose answer was lost is repeated, and its repeat is refused where somebody has been there since.
        const isDone = await signing.isStored(move);
        if (isDone === true) outcomes.set(id, null);
        if (isDone !== false || attempt >= CHANGE_ATTEMPTS) continue;
        const renewal = `${move.vault.id} ${error.code}`;
        const renewed =
          renewals.get(renewal) ?? (await orError(refreshFor(error.code, connection, move.vault, folderId)));
        if (renewed === null) continue;
        renewals.set(renewal, renewed);
        if (renewed instanceof SdkError) outcomes.set(id, renewed);
        else {
          signing.acceptStaged(renewed);
          pending.push(signing);
        }
      }
    }
    for (const move of signed.values()) await move?.vault.seen.flush();
  }
  return items.map(({ id }) => ({ id, error: outcomes.get(id) ?? null }));
}

function isOutdated({ code }: SdkError): boolean {
  return code === "generation_moved" || code === "names_outdated" || code === "statement_invalid";
}

/** The move of one item, over all attempts to sign it. */
class Move {
  readonly item: ConditionedItem;
  readonly #connection: Connection;
  readonly #folderId: string | null;
  readonly #moving: PlaceOptions;
  #condition: Condition | null = null;

  constructor(connection: Connection, item: ConditionedItem, folderId: string | null, moving: PlaceOptions) {
    this.item = item;
    this.#connection = connection;
    this.#folderId = folderId;
    this.#moving = moving;
  }

  /** null: the item is in a public vault. */
  sign(): Promise<SignedMove | null> {
    const [connection, folderId] = [this.#connection, this.#folderId];
    const { vaultId, ...options } = this.#moving;
    const { id, ifMatch } = this.item;
    return withItem(connection, id, options, async (items, item) => {
      const vault = await findVaultOf(connection, item, { ...options, vaultId, sends: false });
      if (folderId !== null) await liesIn(connection, folderId, item.vaultId);
      if (vault === null) return null;
      const { kind } = items;
      return inVaultTerms(async () => {
        const condition = (this.#condition ??= new Condition(ifMatch, item.shared));
        const { metadata, statement: previous } = await openLatest(
          item,
          () => items.get(connection, id, options),
          (latest) => {
            condition.require(latest.shared);
            return openItem(vault, kind, latest, placeOf(latest));
          },
        );
        const view = await vault.view();
        const draft = { kind, id, folderId, metadata, previous };
        return { vault, shared: await makeEntry(vault, view, await vault.writingKey(view, "again"), draft) };
      });
    });
  }

  acceptStaged(staged: StagedEntries): void {
    this.#condition?.acceptStaged(staged, this.item.id);
  }

  /** Whether the service has the move that was signed, or one that follows it; null: nobody can tell. */
  async isStored({ vault, shared }: SignedMove): Promise<boolean | null> {
    const { vaultId: _, ...options } = this.#moving;
    const stored = await orError(
      withItem(this.#connection, this.item.id, options, (items, now) =>
        inVaultTerms(() => isEntryStored(this.#connection, vault, items.kind, now, ownStatement(shared))),
      ),
    );
    return stored instanceof SdkError ? null : stored;
  }
}

/** What the service refused because its entry does not fit any more comes back under a new one. */
export async function restoreUnderNewEntries(
  connection: Connection,
  all: readonly ConditionedItem[],
  outcomes: readonly ItemOutcome[],
  options: CallOptions = {},
): Promise<ItemOutcome[]> {
  const conditions = new Map(all.map(({ id, ifMatch }) => [id, ifMatch]));
  const settled: ItemOutcome[] = [];
  for (const outcome of outcomes) {
    const { id, error } = outcome;
    if (error?.code !== "names_outdated") settled.push(outcome);
    else {
      const restored = await orError(
        withItem(connection, id, options, (items) =>
          restoreItem(connection, items, id, undefined, { ...options, ifMatch: conditions.get(id) }),
        ),
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

async function eachOf<Each>(all: readonly Each[], work: (one: Each) => Promise<void>): Promise<void> {
  for (let at = 0; at < all.length; at += LANES) await Promise.all(all.slice(at, at + LANES).map(work));
}

async function orError<Value>(work: Promise<Value>): Promise<Value | SdkError> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof SdkError) return error;
    throw error;
  }
}
