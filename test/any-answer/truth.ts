/** What is true of the world that the service lies about: tests hold answers, requests and pins to it. */
import type { VaultKey } from "@coffer/crypto";
import type { Author } from "@coffer/sdk";

export type ItemKind = "file" | "folder";

/** A file or folder of a shared vault. */
export interface TrueItem {
  /** This machine has made or read it. False: it was sent, and no answer was believed. */
  isKnown: boolean;
  readonly kind: ItemKind;
  readonly vaultId: string;
  /** All that it was ever called by who may. */
  readonly names: Set<string>;
  readonly contents: Set<string>;
  /** All folders that it was ever put in by who may; null: the top. */
  readonly folders: Set<string | null>;
}

/** A shared vault that this machine has pinned. */
export interface TrueVault {
  readonly id: string;
  /** 64 hex digits. */
  readonly object: string;
  /** Keys of the current generation that members made, by key id. */
  readonly keys: Map<string, VaultKey>;
}

export interface Truth {
  readonly items: Map<string, TrueItem>;
  readonly vaults: Map<string, TrueVault>;
  /** Of public vaults of the account. */
  readonly open: Set<string>;
}

export function itemsOf(truth: Truth, vaultId: string, kind: ItemKind): string[] {
  return [...truth.items]
    .filter(([, item]) => item.isKnown && item.vaultId === vaultId && item.kind === kind)
    .map(([id]) => id);
}

/** What was done there, by who may. */
interface Noted {
  readonly kind: ItemKind;
  readonly vaultId: string;
  readonly name?: string | undefined;
  readonly content?: string | undefined;
  readonly folderId?: string | null | undefined;
  readonly isKnown?: boolean;
}

export function noteItem(
  { items }: Truth,
  id: string,
  { kind, vaultId, name, content, folderId, isKnown = true }: Noted,
): void {
  const item = items.get(id) ?? { isKnown, kind, vaultId, names: new Set(), contents: new Set(), folders: new Set() };
  items.set(id, item);
  if (name !== undefined) item.names.add(name);
  if (content !== undefined) item.contents.add(content);
  if (folderId !== undefined) item.folders.add(folderId);
}

/** A file or folder as a method answers it. */
export interface Answered {
  readonly id: string;
  readonly name: string;
  readonly vaultId: string;
  readonly folderId?: string | null;
  readonly parentId?: string | null;
  readonly trashedAt: string | null;
  readonly unreadable?: string | undefined;
  readonly createdBy?: Author | null;
  readonly updatedBy?: Author | null;
}

/** What is wrong with an answer that stands for the item; null: nothing that this machine could know. */
export function blameItem(truth: Truth, kind: ItemKind, answered: Answered): string | null {
  const { id, name, vaultId, unreadable, trashedAt } = answered;
  if (unreadable !== undefined) return name === "" ? null : `a name beside unreadable: ${name}`;
  const item = truth.items.get(id);
  if (item === undefined)
    return truth.vaults.has(vaultId) ? `${kind} ${id}, which is not in the shared vault, is shown in it` : null;
  if (item.kind !== kind) return `${item.kind} ${id} is shown as a ${kind}`;
  if (item.vaultId !== vaultId && !item.isKnown) return null;
  if (item.vaultId !== vaultId) return `${kind} ${id} of a shared vault is shown in vault ${vaultId}`;
  for (const author of [answered.createdBy, answered.updatedBy])
    if (author != null && author.verified !== true) return `${kind} ${id} has an author that nobody has verified`;
  if (!item.names.has(name)) return `${kind} ${id} is shown under the name ${name}`;
  const folder = answered.folderId ?? answered.parentId ?? null;
  if (trashedAt === null && !item.folders.has(folder)) return `${kind} ${id} is shown in folder ${String(folder)}`;
  // Whoever was shown its name has read its entry.
  item.isKnown = true;
  return null;
}
