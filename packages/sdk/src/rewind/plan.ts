/** The plan of a rewind: for each file and folder, what it comes back to, decided from its own state and past. */
import type { FileVersion } from "@coffer/contract";
import { SdkError } from "../errors.ts";
import type { Connection } from "../options.ts";
import { fileCalls } from "../resources/file-calls.ts";
import { folderCalls } from "../resources/folder-calls.ts";
import type { Entry, Item } from "../resources/items.ts";
import type { Change } from "../resources/result-types.ts";
import type { Actor, Acts, Touched } from "./acts.ts";
import { judge, type Past, type Verdict } from "./past.ts";
import type { RewindLeft, RewindStep } from "./report.ts";

export interface NamePlace {
  readonly name: string;
  readonly parentId: string | null;
}

/** A step with what it needs to be done, and the state that it was decided on. */
export interface PlannedStep extends RewindStep {
  readonly item: Item;
  /** The actor made it: it goes to the trash again, and a folder only if nothing is left in it. */
  readonly isNew: boolean;
  /** It is in the trash with a folder, and comes back with it if that does. */
  readonly withFolder: boolean;
  readonly to: NamePlace | null;
  readonly versionId: string | null;
}

export interface Plan {
  readonly steps: readonly PlannedStep[];
  readonly left: readonly RewindLeft[];
}

/** While two names change places, one of them is this. */
export const betweenName = (id: string): string => `.rewind-${id}`;

const LANES = 8;

export async function planRewind(connection: Connection, acts: Acts, actor: Actor): Promise<Plan> {
  const steps: PlannedStep[] = [];
  const left: RewindLeft[] = [];
  const todo = acts.touched.values();
  const lane = async (): Promise<void> => {
    for (const touched of todo) {
      const planned = await planOne(connection, touched, actor);
      steps.push(...planned.steps);
      left.push(...planned.left);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  // Nothing comes back with a folder where none comes back.
  const isBack = steps.some(({ kind, act }) => kind === "folder" && act === "restore");
  if (isBack) return { steps, left };
  const stays = steps.filter(({ withFolder, isNew }) => withFolder && !isNew);
  const trashed = stays.map(({ kind, id, vaultId, act }) => ({ kind, id, vaultId, act, reason: "trashed" }));
  return { steps: steps.filter(({ withFolder }) => !withFolder), left: [...left, ...trashed] };
}

async function planOne(connection: Connection, touched: Touched, actor: Actor): Promise<Plan> {
  const { kind, id, rows } = touched;
  const facts = { kind, id, vaultId: rows[0]?.object.vaultId ?? null };
  const leave = (act: RewindLeft["act"], reason: string): RewindLeft => ({ ...facts, act, reason });
  const item = await readItem(connection, touched);
  if (item === null) return { steps: [], left: [leave(null, "gone")] };
  if (item.shared !== null) return { steps: [], left: [leave(null, "shared_vault")] };
  const withFolder = item.trashedAt !== null && !rows.findLast(isTurn)?.kind.endsWith(".trashed");
  const base = { kind, id, vaultId: item.vaultId, name: item.name, item, withFolder };
  const step = (more: Pick<PlannedStep, "act"> & Partial<PlannedStep>): PlannedStep => ({
    ...{ ...base, bytes: 0, isNew: false, to: null, versionId: null },
    ...more,
  });

  if (rows.some((row) => isCreation(row) && actor.did(row))) {
    if (item.trashedAt !== null && !withFolder) return { steps: [], left: [] };
    if (rows.some((row) => !actor.did(row))) return { steps: [], left: [leave("trash", "changed_since")] };
    return { steps: [step({ act: "trash", isNew: true })], left: [] };
  }
  const steps: PlannedStep[] = [];
  const left: RewindLeft[] = [];
  const trash = judgeTrash(touched, actor);
  if (trash.is === "changed") left.push(leave(item.trashedAt === null ? "trash" : "restore", "changed_since"));
  else if (trash.is === "undo" && trash.to !== (item.trashedAt !== null))
    steps.push(step({ act: trash.to ? "trash" : "restore" }));
  const staysTrashed = item.trashedAt !== null && !withFolder && !steps.some(({ act }) => act === "restore");

  const undo = <State>(act: "move" | "content", verdict: Verdict<State>, more: (to: State) => Partial<PlannedStep>) => {
    if (verdict.is === "changed") left.push(leave(act, "changed_since"));
    if (verdict.is === "lost") left.push(leave(act, "not_kept"));
    if (verdict.is !== "undo") return;
    if (staysTrashed) left.push(leave(act, "trashed"));
    else steps.push(step({ act, ...more(verdict.to) }));
  };
  if (rows.some((row) => /\.(updated|restored)$/.test(row.kind) && actor.did(row))) {
    undo("move", judge(await readPlaces(connection, touched, actor), isSamePlace), (to) => ({ to }));
    if (kind === "file")
      undo("content", judge(await readContents(connection, id, actor), isSameContent), ({ versionId, size }) => ({
        ...{ versionId, bytes: size },
      }));
  }
  return { steps, left };
}

function isCreation({ kind }: Change): boolean {
  return kind === "file.uploaded" || kind === "folder.created";
}

/** null: it is not there any more, or this client may not see it. */
async function readItem(connection: Connection, { kind, id }: Touched): Promise<Item | null> {
  try {
    return kind === "file" ? await fileCalls(connection).get(id) : await folderCalls(connection).get(id);
  } catch (error) {
    if (error instanceof SdkError && error.code === "not_found") return null;
    throw error;
  }
}

/** true: in the trash. What others did in between counts as theirs: a restored thing that they use stays. */
function judgeTrash({ rows, inside }: Touched, actor: Actor): Verdict<boolean> {
  const turns = rows.filter(isTurn);
  const [first] = turns;
  if (first === undefined) return { is: "nothing" };
  const states = turns.map((row, index): Past<boolean> => ({
    ...{ number: index + 2, isMine: actor.did(row), state: isTrashing(row) },
  }));
  const verdict = judge([...states.reverse(), { number: 1, isMine: false, state: !isTrashing(first) }], Object.is);
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

async function readPlaces(connection: Connection, { kind, id }: Touched, actor: Actor): Promise<Past<NamePlace>[]> {
  const entries = await everyPage(async (cursor): Promise<{ items: Entry[]; nextCursor: string | null }> => {
    const calls = kind === "file" ? fileCalls(connection) : folderCalls(connection);
    const page = await calls.entries(id, { limit: 1000, ...cursor });
    return { items: page.entries, nextCursor: page.nextCursor };
  });
  return entries
    .filter(({ name }) => name !== betweenName(id))
    .map((entry, index, { length }) => ({
      // Names in between are left out, so what counts is the order; a gap at the end shows by the first number.
      number: length - index + ((entries.at(-1)?.number ?? 1) - 1),
      isMine: actor.made(entry.author, entry.createdAt),
      state: { name: entry.name, parentId: "folderId" in entry ? entry.folderId : entry.parentId },
    }));
}

function isSamePlace(one: NamePlace, other: NamePlace): boolean {
  return one.name === other.name && one.parentId === other.parentId;
}

async function readContents(connection: Connection, fileId: string, actor: Actor): Promise<Past<FileVersion>[]> {
  const versions = await everyPage(async (cursor) => {
    const page = await fileCalls(connection).versions(fileId, { limit: 1000, ...cursor });
    return { items: page.versions, nextCursor: page.nextCursor };
  });
  return versions.map((state) => ({
    ...{ number: state.number, isMine: actor.made(state.author, state.createdAt), state },
  }));
}

function isSameContent(one: FileVersion, other: FileVersion): boolean {
  return one.sha256 === other.sha256 && one.contentType === other.contentType;
}

async function everyPage<Row>(
  read: (cursor: { cursor?: string }) => Promise<{ items: readonly Row[]; nextCursor: string | null }>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await read(cursor === undefined ? {} : { cursor });
    rows.push(...page.items);
    cursor = page.nextCursor;
  }
  return rows;
}
