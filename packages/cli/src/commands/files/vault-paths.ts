/** How a line names what is in a vault: `VAULT:PATH`, an id, or a path with `--vault`. */
import {
  findFolder,
  findItem,
  findVault,
  segmentsOf,
  untrusted,
  wholeId,
  writableVault,
  type Item,
} from "@coffer/tasks";
import { toFailure } from "@coffer/tasks/start";
import type { File, Folder } from "@coffer/sdk";
import type { Task } from "@coffer/tasks";
import { text } from "../../declarations.ts";
import { CommandFailure, usage } from "../../failure.ts";
import { argumentWord } from "../../shell-word.ts";
import { splitVaultPath } from "../../vault-path.ts";

/** A place in a vault, or an id that needs none. */
export interface VaultPath {
  /** null: `path` is an id, or the beginning of one. */
  readonly vaultId: string | null;
  /** From the top of the vault, or an id. */
  readonly path: string;
  /** The vault as the line names it. */
  readonly vault: string | undefined;
}

export const VAULT = text("Vault that the paths are in, for paths without VAULT: (name, id, or beginning of the id)", {
  placeholder: "VAULT",
});

const ID_OR_PREFIX = /^[0-9a-f]{8}[0-9a-f-]{0,28}$/i;

/** Where the text leads. A path without any vault is in the only one that the credential has. */
export async function resolveVaultPath(task: Task, typed: string, vault: string | undefined): Promise<VaultPath> {
  const split = vault === undefined ? splitVaultPath(typed) : { vault, path: typed };
  if (split !== null) return { ...split, vaultId: await vaultIdOf(task, split.vault) };
  if (ID_OR_PREFIX.test(typed.trim())) return { vaultId: null, path: typed, vault };
  return { vaultId: await onlyVault(task, typed), path: typed, vault };
}

/** The vault of a path that names none. */
async function onlyVault(task: Task, path: string): Promise<string> {
  try {
    return await writableVault(task, null);
  } catch (thrown) {
    const { candidates, code } = toFailure(thrown);
    if (code !== "vault_required" || candidates.length === 0) throw thrown;
    const pathText = untrusted(path).visible();
    if (candidates.some(({ name }) => name.visible() === pathText))
      throw usage(
        `${pathText} is a vault, and a colon belongs behind its name`,
        `write "${pathText}:" or "${pathText}:PATH"`,
      );
    throw new CommandFailure("vault_required", {
      message: `The vault of ${pathText} is not named, and there are several`,
      candidates,
      nextStep: "write VAULT:PATH, or pass --vault VAULT",
    });
  }
}

/** What is not there may be in the list of its vault, under another name. */
export async function withListHint<Outcome>(vault: string | undefined, work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await work();
  } catch (thrown) {
    const failure = toFailure(thrown);
    if (failure.code !== "not_found") throw thrown;
    const vaultText = vault === undefined ? "VAULT" : untrusted(vault).visible();
    const { candidates, cause, detail, message } = failure;
    throw new CommandFailure("not_found", {
      message,
      candidates,
      cause,
      ...(detail === null ? {} : { detail }),
      nextStep: `coffer ls ${argumentWord(`${vaultText}:`)}`,
    });
  }
}

/** The file or folder at a place. `trashed` looks in the trash, too. */
export const itemAt = (
  task: Task,
  { path, vault, vaultId }: VaultPath,
  options: { readonly trashed?: boolean } = {},
): Promise<Item> => withListHint(vault, () => findItem(task, vaultId, path, options));

/** A whole id is taken as it is: each call that follows names it to the service anyway. */
export const vaultIdOf = async (task: Task, vault: string): Promise<string> =>
  wholeId(vault) ?? (await findVault(task, vault)).id;

export async function fileAt(task: Task, typed: string, vault: string | undefined): Promise<File> {
  const resolved = await resolveVaultPath(task, typed, vault);
  if (isTop(resolved.path)) throw notFile();
  const item = await itemAt(task, resolved);
  if (item.kind === "folder") throw notFile();
  return item.file;
}

/** null: the top of the vault. */
export type PathTarget =
  | { readonly vaultId: string; readonly item: Item }
  | { readonly vaultId: string; readonly item: null };

/** A file, a folder, or the top of a vault. */
export async function targetAt(task: Task, typed: string, vault: string | undefined): Promise<PathTarget> {
  const resolved = await resolveVaultPath(task, typed, vault);
  if (resolved.vaultId !== null && isTop(resolved.path)) return { vaultId: resolved.vaultId, item: null };
  const item = await itemAt(task, resolved);
  return { vaultId: item.kind === "file" ? item.file.vaultId : item.folder.vaultId, item };
}

/** null: the top of the vault. */
export async function folderAt(
  task: Task,
  typed: string,
  vault: string | undefined,
): Promise<{ readonly vaultId: string; readonly folder: Folder | null }> {
  const { path, vaultId, ...resolved } = await resolveVaultPath(task, typed, vault);
  if (vaultId !== null && isTop(path)) return { vaultId, folder: null };
  const folder = await withListHint(resolved.vault, () => findFolder(task, vaultId, path));
  if (folder !== null) return { vaultId: folder.vaultId, folder };
  if (vaultId !== null) return { vaultId, folder };
  throw usage("The top of a vault needs the vault's name", "coffer ls VAULT:");
}

export const isTop = (path: string): boolean => segmentsOf(path).length === 0;

const notFile = () => usage("This is a folder, and the command takes a file", "name a file: coffer ls VAULT:PATH");
