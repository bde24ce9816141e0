/** A text at the end of a stored file, or in the place of another one: the rest of the file is not sent by the caller. */
import {
  appendText,
  replaceText,
  type EditOptions,
  type File,
  type TextReplacement,
  type UploadResult,
} from "@coffer/sdk";
import { TaskFailure, toFailure } from "./failure.ts";
import { ensureFolder, findExistingFolders } from "./folders.ts";
import type { Task } from "./task.ts";
import {
  contentTypeOfText,
  findByName,
  nameIn,
  requireExpected,
  type UploadFolder,
  type UploadOutcome,
} from "./upload-source.ts";

export type TextEdit = { readonly append: string } | { readonly replace: TextReplacement };

export interface EditPlan extends UploadFolder {
  readonly vaultId: string;
  readonly name: string;
  /** Tag of the file, or id of the version that it must have. Default: the newest one. */
  readonly expectedVersion?: string | undefined;
  /** Throws for a file that is not to be edited. Called before its content is read. */
  readonly refuse?: (file: File) => Promise<void>;
}

/** Somebody may make the file, or delete it, between the look and the edit. */
const ATTEMPTS = 3;

/**
 * Appending makes a file that is missing. An edit that another one overtakes is applied to the newer version.
 * @throws TaskFailure `edit_refused` for one that does not apply; `not_found`; `precondition_failed`.
 */
export async function editText(task: Task, plan: EditPlan, edit: TextEdit): Promise<UploadOutcome> {
  const { vaultId, name, expectedVersion } = plan;
  nameIn(plan, name);
  for (let attempt = 1; ; attempt += 1) {
    const place = await placeOf(task, plan, edit);
    const existing = place === null ? null : await findByName(task, { vaultId, ...place }, name);
    requireExpected(existing, expectedVersion);
    try {
      if (existing !== null) {
        await plan.refuse?.(existing);
        const ifMatch = expectedVersion === undefined ? undefined : existing.tag;
        return outcomeOf(await apply(task, existing, edit, { vaultId, ifMatch, signal: task.signal }), "replaced");
      }
      if (!("append" in edit) || place === null)
        throw new TaskFailure("not_found", { message: "There is no file of that name to edit" });
      return outcomeOf(await create(task, { vaultId, name, ...place }, edit.append), "created");
    } catch (thrown) {
      // After an answer that was lost, the file of that name may be this text.
      if (thrown instanceof Error && "perhapsDone" in thrown && thrown.perhapsDone === true) throw thrown;
      const { code } = toFailure(thrown, task.signal);
      const isOvertaken = existing === null ? code === "name_exists" : code === "not_found" && "append" in edit;
      if (!isOvertaken || attempt === ATTEMPTS) throw thrown;
    }
  }
}

/** The folder, which only an act that may make a file makes. null: it is not there. */
async function placeOf(
  task: Task,
  { vaultId, folder, below }: EditPlan,
  edit: TextEdit,
): Promise<{ readonly folderId?: string } | null> {
  if ("append" in edit) {
    const folderId = await ensureFolder(task, vaultId, folder, below);
    return folderId === null ? {} : { folderId };
  }
  const walk = await findExistingFolders(task, vaultId, folder, below);
  if (walk.missing.length > 0) return null;
  return walk.folder === null ? {} : { folderId: walk.folder.id };
}

async function apply(task: Task, { id, vaultId }: File, edit: TextEdit, options: EditOptions): Promise<UploadResult> {
  const client = await task.clientFor(vaultId);
  return "append" in edit
    ? await appendText(client, id, edit.append, options)
    : await replaceText(client, id, edit.replace, options);
}

async function create(
  task: Task,
  place: { readonly vaultId: string; readonly name: string; readonly folderId?: string },
  text: string,
): Promise<UploadResult> {
  const client = await task.clientFor(place.vaultId);
  const contentType = await contentTypeOfText(place.name);
  return await client.files.upload({ ...place, body: text, contentType }, { signal: task.signal });
}

function outcomeOf({ file, bytes, sha256 }: UploadResult, act: "created" | "replaced"): UploadOutcome {
  return { file, bytes, sha256, act };
}
