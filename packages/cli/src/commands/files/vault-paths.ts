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
import { splitPlace } from "../../vault-path.ts";

/** A place in a vault, or an id that needs none. */
export interface Place {
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
export async function placeOf(task: Task, given: string, vault: string | undefined): Promise<Place> {
  const split = vault === undefined ? splitPlace(given) : { vault, path: given };
  if (split !== null) return { ...split, vaultId: await vaultIdOf(task, split.vault) };
  if (ID_OR_PREFIX.test(given.trim())) return { vaultId: null, path: given, vault };
  return { vaultId: await onlyVault(task, given), path: given, vault };
}

/** The vault of a path that names none. */
async function onlyVault(task: Task, path: string): Promise<string> {
  try {
    return await writableVault(task, null);
  } catch (thrown) {
    const { candidates, code } = toFailure(thrown);
    if (code !== "vault_required" || candidates.length === 0) throw thrown;
    const named = untrusted(path).visible();
    if (candidates.some(({ name }) => name.visible() === named))
      throw usage(`${named} is a vault, and a colon belongs behind its name`, `write "${named}:" or "${named}:PATH"`);
    throw new CommandFailure("vault_required", {
      message: `The vault of ${named} is not named, and there are several`,
      candidates,
      nextStep: "write VAULT:PATH, or pass --vault VAULT",
    });
  }
}

/** What is not there may be in the list of its vault, under another name. */
export async function orListOf<Outcome>(vault: string | undefined, look: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await look();
  } catch (thrown) {
    const failure = toFailure(thrown);
    if (failure.code !== "not_found") throw thrown;
    const shown = vault === undefined ? "VAULT" : untrusted(vault).visible();
    const { candidates, cause, detail, message } = failure;
    throw new CommandFailure("not_found", {
      message,
      candidates,
      cause,
      ...(detail === null ? {} : { detail }),
      nextStep: `coffer ls ${argumentWord(`${shown}:`)}`,
    });
  }
}

/** The file or folder at a place. `trashed` looks in the trash, too. */
export const itemAt = (
  task: Task,
  { path, vault, vaultId }: Place,
  options: { readonly trashed?: boolean } = {},
): Promise<Item> => orListOf(vault, () => findItem(task, vaultId, path, options));

/** A whole id is taken as it is: each call that follows names it to the service anyway. */
export const vaultIdOf = async (task: Task, vault: string): Promise<string> =>
  wholeId(vault) ?? (await findVault(task, vault)).id;

export async function fileAt(task: Task, given: string, vault: string | undefined): Promise<File> {
  const place = await placeOf(task, given, vault);
  if (isTop(place.path)) throw notFile();
  const item = await itemAt(task, place);
  if (item.kind === "folder") throw notFile();
  return item.file;
}

/** null: the top of the vault. */
export type Found =
  | { readonly vaultId: string; readonly item: Item }
  | { readonly vaultId: string; readonly item: null };

/** A file, a folder, or the top of a vault. */
export async function whatIsAt(task: Task, given: string, vault: string | undefined): Promise<Found> {
  const place = await placeOf(task, given, vault);
  if (place.vaultId !== null && isTop(place.path)) return { vaultId: place.vaultId, item: null };
  const item = await itemAt(task, place);
  return { vaultId: item.kind === "file" ? item.file.vaultId : item.folder.vaultId, item };
}

/** null: the top of the vault. */
export async function folderAt(
  task: Task,
  given: string,
  vault: string | undefined,
): Promise<{ readonly vaultId: string; readonly folder: Folder | null }> {
  const { path, vaultId, ...place } = await placeOf(task, given, vault);
  if (vaultId !== null && isTop(path)) return { vaultId, folder: null };
  const folder = await orListOf(place.vault, () => findFolder(task, vaultId, path));
  if (folder !== null) return { vaultId: folder.vaultId, folder };
  if (vaultId !== null) return { vaultId, folder };
  throw usage("The top of a vault needs the vault's name", "coffer ls VAULT:");
}

export const isTop = (path: string): boolean => segmentsOf(path).length === 0;

const notFile = () => usage("This is a folder, and the command takes a file", "name a file: coffer ls VAULT:PATH");
