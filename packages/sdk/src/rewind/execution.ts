/** Does the steps of a plan: in an order in which they can succeed, and each only on what the plan has seen. */
import { SdkError, VaultError } from "../http/errors.ts";
import { inLanes } from "../http/concurrency.ts";
import type { CallOptions, Connection } from "../connection/options.ts";
import { fileResource, type FileResource } from "../storage/files.ts";
import { folderResource, type FolderResource } from "../storage/folders.ts";
import type { File, Folder } from "../storage/item-types.ts";
import { cyclesOf, type NameMove } from "./name-cycles.ts";
import { temporaryName } from "./item-history.ts";
import type { PlannedStep } from "./plan.ts";
import type { NamePlace, RewindLeft, RewindOptions } from "./report.ts";

/** What counts of an item. */
type ItemState =
  | Pick<File, "name" | "tag" | "trashedAt" | "versionId" | "folderId">
  | Pick<Folder, "name" | "tag" | "trashedAt" | "parentId">;

export interface ExecutionResult {
  readonly done: readonly PlannedStep[];
  readonly left: readonly RewindLeft[];
}

/**
 * New files go first, because others need their names. Then folders come back, then what lies in them. New folders go
 * last, when they are empty.
 */
const ORDER: readonly ((step: PlannedStep) => boolean)[] = [
  ({ act, kind, isNew }) => act === "trash" && kind === "file" && isNew,
  ({ act, kind }) => act === "restore" && kind === "folder",
  ({ act, kind }) => act === "move" && kind === "folder",
  ({ act, kind }) => act === "restore" && kind === "file",
  ({ act, kind }) => act === "move" && kind === "file",
  ({ act }) => act === "content",
  ({ act, isNew }) => act === "trash" && !isNew,
  ({ act, kind, isNew }) => act === "trash" && kind === "folder" && isNew,
];

/** Another step may have to come first: a name is taken, a folder is in the trash or full. */
const DEFERRED: ReadonlySet<string> = new Set([
  ...["name_exists", "not_empty", "trashed", "not_found", "folder_cycle", "too_deep"],
]);

const LANES = 8;

export class Execution {
  readonly #files: FileResource;
  readonly #folders: FolderResource;
  readonly #options: RewindOptions;
  /** What this rewind has made of the items. */
  readonly #items = new Map<string, ItemState>();
  readonly #done: PlannedStep[] = [];
  readonly #left: RewindLeft[] = [];

  constructor(connection: Connection, options: RewindOptions) {
    this.#files = fileResource(connection);
    this.#folders = folderResource(connection);
    this.#options = options;
  }

  async run(steps: readonly PlannedStep[]): Promise<ExecutionResult> {
    let waiting = new Map(steps.map((step) => [step, ""]));
    while (waiting.size > 0) {
      const before = waiting.size;
      waiting = await this.#round([...waiting.keys()]);
      if (waiting.size === before && !(await this.#breakCycle(waiting))) break;
    }
    for (const [step, reason] of waiting) {
      if (isInTrash(step, reason)) continue;
      await this.#stepBack(step);
      this.#skip(step, reason);
    }
    return { done: this.#done, left: this.#left };
  }

  /** Resolves with the steps that other steps may have to come before, and what they were refused with. */
  async #round(steps: readonly PlannedStep[]): Promise<Map<PlannedStep, string>> {
    const refused = new Map<PlannedStep, string>();
    for (const isNow of ORDER) {
      const todo = steps.filter(isNow);
      // Nothing is still being done when a rewind has failed.
      await inLanes(todo, todo[0]?.kind === "folder" ? 1 : LANES, async (step) => {
        this.#options.signal?.throwIfAborted();
        const reason = await this.#try(step);
        if (reason === null) return;
        if (DEFERRED.has(reason)) refused.set(step, reason);
        else this.#skip(step, reason);
      });
    }
    return refused;
  }

  #skip({ kind, id, vaultId, name, act }: PlannedStep, reason: string): void {
    this.#left.push({ kind, id, vaultId, name, act, reason });
  }

  /** null: it is done. */
  async #try(step: PlannedStep): Promise<string | null> {
    try {
      const present = await this.#read(step);
      if (!isSame(present, this.#stateOf(step))) return "changed_since";
      if (present.trashedAt !== null && step.act !== "restore") return "trashed";
      const changed = await this.#do(step, present);
      if (changed === null) return "not_empty";
      this.#items.set(step.id, changed);
      this.#done.push(step);
      const { item: _item, isNew: _isNew, from: _from, versionId: _versionId, ...report } = step;
      this.#options.onStep?.(report);
      return null;
    } catch (error) {
      return reasonOf(error);
    }
  }

  /** null: the folder is not empty. */
  async #do(step: PlannedStep, { tag }: ItemState): Promise<ItemState | null> {
    const { act, kind, id, to, versionId, isNew, vaultId } = step;
    // The plan has read it there; in a shared vault, members signed that.
    const options = { ...this.#call(), vaultId, ifMatch: tag };
    const deletion = { ...this.#call(), ifMatch: tag };
    if (act === "content") return this.#files.restoreVersion(id, versionId ?? "", options);
    if (kind === "file") {
      if (act === "move") return this.#files.update(id, { name: to?.name, folderId: to?.parentId ?? null }, options);
      return act === "restore" ? this.#files.restore(id, {}, options) : this.#files.delete(id, deletion);
    }
    if (act === "move") return this.#folders.update(id, { name: to?.name, parentId: to?.parentId ?? null }, options);
    if (act === "restore") return this.#folders.restore(id, {}, options);
    if (isNew && !(await this.#isEmpty(step))) return null;
    return this.#folders.delete(id, deletion);
  }

  /**
   * Names that changed places: one item steps aside, and the next round puts it right. If a rewind is cut off here, the
   * next one finds that name and goes on.
   */
  async #breakCycle(waiting: ReadonlyMap<PlannedStep, string>): Promise<boolean> {
    const moves: NameMove<PlannedStep>[] = [];
    for (const [step, reason] of waiting) {
      const state = this.#stateOf(step);
      if (step.to === null || reason !== "name_exists") continue;
      const has = keyOf(step, { name: state.name, parentId: parentOf(state) });
      moves.push({ item: step, current: has, target: keyOf(step, step.to) });
    }
    // If one is refused, another one may step aside.
    for (const step of cyclesOf(moves)) if (await this.#rename(step, temporaryName(step.id))) return true;
    return false;
  }

  /** What stepped aside, and cannot go where it was to go, has its name again, if that is free. */
  async #stepBack(step: PlannedStep): Promise<void> {
    if (step.from !== null && this.#stateOf(step).name === temporaryName(step.id)) await this.#rename(step, step.from);
  }

  async #rename(step: PlannedStep, name: string): Promise<boolean> {
    const { kind, id, vaultId } = step;
    const options = { ...this.#call(), vaultId, ifMatch: this.#stateOf(step).tag };
    const calls = kind === "file" ? this.#files : this.#folders;
    try {
      this.#items.set(id, await calls.update(id, { name }, options));
      return true;
    } catch (error) {
      reasonOf(error);
      return false;
    }
  }

  #stateOf({ id, item }: PlannedStep): ItemState {
    return this.#items.get(id) ?? item;
  }

  async #isEmpty({ vaultId, id }: PlannedStep): Promise<boolean> {
    const { folders } = await this.#folders.list({ vaultId, parentId: id, limit: 1 }, this.#call());
    const { files } = await this.#files.list({ vaultId, folderId: id, limit: 1 }, this.#call());
    return folders.length + files.length === 0;
  }

  #read({ kind, id }: PlannedStep): Promise<ItemState> {
    return kind === "file" ? this.#files.get(id, this.#call()) : this.#folders.get(id, this.#call());
  }

  #call(): CallOptions {
    return { signal: this.#options.signal };
  }
}

/** Why this step was refused. What is wrong with one object, of a shared vault too, stops no other; all else is thrown. */
function reasonOf(error: unknown): string {
  if (!(error instanceof SdkError) || error.retryable) throw error;
  if (error.status === null && !(error instanceof VaultError)) throw error;
  return error.code === "precondition_failed" ? "changed_since" : error.code;
}

/** What was to go to the trash is there: it did not come back with its folder. */
function isInTrash({ act }: PlannedStep, reason: string): boolean {
  return act === "trash" && reason === "trashed";
}

/** Whether nobody has changed it since. What is in the trash with its folder comes back with it. */
function isSame(present: ItemState, expected: ItemState): boolean {
  const isWhere = parentOf(present) === parentOf(expected) && present.name === expected.name;
  const isBack = present.trashedAt === null || expected.trashedAt !== null;
  return isWhere && isBack && versionOf(present) === versionOf(expected);
}

/** Names are unique among the files of a place, and among its folders. */
function keyOf({ kind, vaultId }: PlannedStep, { name, parentId }: NamePlace): string {
  return `${kind} ${vaultId} ${parentId ?? ""} ${name}`;
}

function parentOf(item: ItemState): string | null {
  return "folderId" in item ? item.folderId : item.parentId;
}

function versionOf(item: ItemState): string | null {
  return "versionId" in item ? item.versionId : null;
}
