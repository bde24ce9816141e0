/** The plan of a rewind: for each file and folder, what it comes back to, decided from its own state and history. */
import { SdkError, VaultError } from "../http/errors.ts";
import { inLanes } from "../http/concurrency.ts";
import type { Connection } from "../connection/options.ts";
import { ItemCalls } from "../storage/item-calls.ts";
import { FILES, FOLDERS, type Item } from "../storage/items.ts";
import type { Change } from "../events/changes.ts";
import type { Actor, PlanScope, TouchedItem } from "./actor-history.ts";
import { ItemHistory } from "./item-history.ts";
import { judge, type PastState, type Verdict } from "./verdict.ts";
import type { NamePlace, RewindLeft, RewindStep } from "./report.ts";

/** A step with what it needs to be done, and the state that it was decided on. */
export interface PlannedStep extends RewindStep {
  readonly item: Item;
  /** The actor made it: it goes to the trash again, and a folder only if nothing is left in it. */
  readonly isNew: boolean;
  /** It is in the trash with a folder, and comes back with it if that does. */
  readonly withFolder: boolean;
  /** The name that a move takes away. */
  readonly from: string | null;
  readonly versionId: string | null;
}

export interface Plan {
  readonly steps: readonly PlannedStep[];
  readonly left: readonly RewindLeft[];
}

const LANES = 8;

export async function planRewind(
  connection: Connection,
  items: readonly TouchedItem[],
  scope: PlanScope,
): Promise<Plan> {
  // In the order of the acts, whichever answer comes first.
  const planned: Plan[] = [];
  await inLanes(items.entries(), LANES, async ([at, touched]) => {
    planned[at] = await planOne(connection, touched, scope);
  });
  const steps = planned.flatMap((each) => each.steps);
  const left = planned.flatMap((each) => each.left);
  // Nothing comes back with a folder where none comes back.
  const isBack = steps.some(({ kind, act }) => kind === "folder" && act === "restore");
  if (isBack) return { steps, left };
  const stays = steps.filter(({ withFolder, isNew }) => withFolder && !isNew);
  const trashed = stays.map(({ kind, id, vaultId, name, act }) => ({
    kind,
    id,
    vaultId,
    name,
    act,
    reason: "trashed",
  }));
  return { steps: steps.filter(({ withFolder }) => !withFolder), left: [...left, ...trashed] };
}

type Skip = (act: RewindLeft["act"], reason: string) => RewindLeft;

async function planOne(connection: Connection, touched: TouchedItem, scope: PlanScope): Promise<Plan> {
  const { kind, id, rows } = touched;
  const facts = { kind, id, vaultId: rows[0]?.object.vaultId ?? null };
  let name: string | null = null;
  const skip: Skip = (act, reason) => ({ ...facts, name, act, reason });
  try {
    const item = await readItem(connection, touched, scope);
    ({ name } = item);
    return await planItem(connection, touched, scope, item, skip);
  } catch (error) {
    return { steps: [], left: [skip(null, whyUnreadable(error))] };
  }
}

function readItem(connection: Connection, { kind, id }: TouchedItem, { call }: PlanScope): Promise<Item> {
  return kind === "file"
    ? new ItemCalls(connection, FILES).get(id, call)
    : new ItemCalls(connection, FOLDERS).get(id, call);
}

async function planItem(
  connection: Connection,
  touched: TouchedItem,
  scope: PlanScope,
  item: Item,
  skip: Skip,
): Promise<Plan> {
  const { kind, id, rows } = touched;
  const { actor } = scope;
  const isShared = item.shared !== null;
  if (isShared && !actor.isAddress) return { steps: [], left: [skip(null, "address_needed")] };
  const withFolder = item.trashedAt !== null && !rows.findLast(isTurn)?.kind.endsWith(".trashed");
  const base = { kind, id, vaultId: item.vaultId, name: item.name, item, withFolder };
  const step = (more: Pick<PlannedStep, "act"> & Partial<PlannedStep>): PlannedStep => ({
    ...base,
    bytes: 0,
    isNew: false,
    from: null,
    to: null,
    versionId: null,
    ...more,
  });

  const history = new ItemHistory(connection, touched, scope, isShared);
  if (rows.some((row) => isCreation(row) && actor.did(row))) {
    if (item.trashedAt !== null && !withFolder) return { steps: [], left: [] };
    // Somebody may have changed it after the feed was read. In shared vaults, what members signed shows that.
    const isThere = item.trashedAt === null && !isShared;
    const isTheirs = isThere && item.updatedBy !== null && !actor.made(item.updatedBy, item.updatedAt);
    if (isTheirs || rows.some((row) => !actor.did(row))) return { steps: [], left: [skip("trash", "changed_since")] };
    const doubt = isShared ? await history.doubtOfCreation() : null;
    if (doubt !== null) return { steps: [], left: [skip("trash", doubt)] };
    return { steps: [step({ act: "trash", isNew: true })], left: [] };
  }
  const steps: PlannedStep[] = [];
  const left: RewindLeft[] = [];
  const trash = await judgeTrash(touched, actor);
  if (trash.is === "changed") left.push(skip(item.trashedAt === null ? "trash" : "restore", "changed_since"));
  else if (trash.is === "undo" && trash.to !== (item.trashedAt !== null))
    steps.push(step({ act: trash.to ? "trash" : "restore" }));
  const staysTrashed = item.trashedAt !== null && !withFolder && !steps.some(({ act }) => act === "restore");

  const undo = <State>(act: "move" | "content", verdict: Verdict<State>, more: (to: State) => Partial<PlannedStep>) => {
    if (verdict.is === "changed") left.push(skip(act, "changed_since"));
    if (verdict.is === "lost") left.push(skip(act, "not_kept"));
    if (verdict.is === "unverified") left.push(skip(act, verdict.code));
    if (verdict.is !== "undo") return;
    if (staysTrashed) left.push(skip(act, "trashed"));
    else steps.push(step({ act, ...more(verdict.to) }));
  };
  if (rows.some((row) => /\.(updated|restored)$/.test(row.kind) && actor.did(row))) {
    if (isShared && rows.some((row) => row.kind.endsWith(".updated") && actor.did(row)) && !(await history.hasActs()))
      return { steps, left: [...left, skip(null, "unverified")] };
    const names = await history.names();
    undo("move", await judge(names, isSamePlace), (to) => ({ from: names[0]?.state.name ?? null, to }));
    if (kind === "file")
      undo(
        "content",
        await judge(await history.contents(), history.isSameContent),
        ({ version: { versionId, size } }) => ({
          versionId,
          bytes: size,
        }),
      );
  }
  return { steps, left };
}

function isCreation({ kind }: Change): boolean {
  return kind === "file.uploaded" || kind === "folder.created";
}

/** Why nothing of an item can be undone, if it or its past cannot be read. */
function whyUnreadable(error: unknown): string {
  if (!(error instanceof SdkError) || error.retryable) throw error;
  if (error.code === "not_found") return "gone";
  if (error instanceof VaultError) return error.code;
  throw error;
}

/** true: in the trash. What others did in between counts as theirs: a restored thing that they use stays. */
async function judgeTrash({ rows, inside }: TouchedItem, actor: Actor): Promise<Verdict<boolean>> {
  const turns = rows.filter(isTurn);
  const [first] = turns;
  if (first === undefined) return { is: "nothing" };
  // Nobody signs for the trash: who put something there is the service's word, in shared vaults too.
  const states = turns.map((row, index): PastState<boolean> => ({
    number: index + 2,
    isMine: actor.did(row),
    state: isTrashing(row),
    unreadable: null,
  }));
  const original = { number: 1, isMine: false, state: !isTrashing(first), unreadable: null };
  const verdict = await judge([...states.reverse(), original], Object.is);
  const last = turns.at(-1)?.sequence ?? 0;
  const isUsed = [...rows, ...inside].some((row) => row.sequence > last && !actor.did(row));
  return verdict.is === "undo" && verdict.to && isUsed ? { is: "changed" } : verdict;
}

function isTurn({ kind }: Change): boolean {
  return /\.(trashed|restored)$/.test(kind);
}

function isTrashing({ kind }: Change): boolean {
  return kind.endsWith(".trashed");
}

function isSamePlace(one: NamePlace, other: NamePlace): boolean {
  return one.name === other.name && one.parentId === other.parentId;
}
