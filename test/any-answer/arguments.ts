/** What methods are called with: things of the world that is lied about; and what their answers are held to. */
import type { File, Folder } from "@coffer/sdk";
import { itemsOf, type ItemKind } from "./truth.ts";
import type { Meaning, Method, Run } from "./method.ts";

/** A shared vault whose content nobody else is to have. */
export function sharedVault({ world, draw }: Run): string {
  const { mine, theirs } = world.vaults;
  return draw.pick([mine, mine, theirs]).id;
}

export function itemIn({ world, draw }: Run, vaultId: string, kind: ItemKind): string {
  return draw.pick(itemsOf(world.truth, vaultId, kind));
}

/** Bytes of a part of the uploads that go in parts. */
const PART_BYTES = 20_000;

/** A secret name and content; now and then so much of it that it goes in parts. */
export function secrets({ draw }: Run): {
  readonly name: string;
  readonly content: string;
  readonly body: Buffer;
  readonly options: { readonly partBytes?: number };
} {
  const isLarge = draw.chance(0.15);
  const content = `${draw.word("c")}${isLarge ? "x".repeat(3 * PART_BYTES) : ""}`;
  return {
    name: draw.word("n"),
    content,
    body: Buffer.from(content),
    options: isLarge ? { partBytes: PART_BYTES } : {},
  };
}

/** Somewhere to put something: in a shared vault by its id, by a folder's id alone, or in a public one that is named. */
export function placeOf(run: Run): {
  readonly place: { vaultId?: string; folderId?: string };
  readonly meaning: Meaning;
} {
  const { world, draw } = run;
  const vaultId = sharedVault(run);
  const folderId = itemIn(run, vaultId, "folder");
  const openId = world.vaults.open.id;
  return draw.pick([
    { place: { vaultId }, meaning: { vaultId, folderId: null } },
    { place: { vaultId, folderId }, meaning: { vaultId, folderId } },
    { place: { folderId }, meaning: { vaultId, folderId } },
    { place: { folderId }, meaning: { vaultId, folderId } },
    { place: {}, meaning: {} },
    { place: { vaultId: openId }, meaning: { isOpen: true } },
    { place: { vaultId: openId, folderId: draw.pick(world.open.folderIds) }, meaning: { isOpen: true } },
  ]);
}

interface Asked {
  readonly vaultId?: string;
  readonly folderId?: string;
  readonly name?: string;
}

/** A list of that place, or a name that is looked for there: then in one folder. */
export function lookingIn(run: Run, place: Asked): { readonly asked: Asked; readonly name: string | undefined } {
  const { draw } = run;
  const name = draw.chance(0.5) ? secrets(run).name : undefined;
  const isOfTop =
    place.vaultId !== undefined && place.folderId === undefined && (name !== undefined || draw.chance(0.3));
  const asked = { ...place, ...(isOfTop ? { folderId: "root" } : {}), ...(name === undefined ? {} : { name }) };
  return { asked, name };
}

/** A file or folder that is there, by its id: mostly of a shared vault. */
export function itemOf(
  run: Run,
  kind: ItemKind,
): { readonly id: string; readonly vaultId: string; readonly meaning: Meaning } {
  const { world, draw } = run;
  if (draw.chance(0.2)) {
    const id = draw.pick(kind === "file" ? world.open.fileIds : world.open.folderIds);
    return { id, vaultId: world.vaults.open.id, meaning: { isOpen: true, itemId: id } };
  }
  const vaultId = sharedVault(run);
  const id = itemIn(run, vaultId, kind);
  return { id, vaultId, meaning: { vaultId, itemId: id, kind } };
}

/** What was made must lie where it was to be made. */
export function blameMade(
  { world, blame }: Run,
  kind: ItemKind,
  { vaultId, folderId, isOpen, itemId }: Meaning,
  made: File | Folder,
): void {
  if (isOpen === true) return;
  if (itemId !== undefined && made.id !== itemId) blame(`${made.id} was answered for ${itemId}`);
  if (vaultId !== undefined && made.vaultId !== vaultId)
    blame(`the ${kind} that was made is shown in vault ${made.vaultId}`);
  const shown = "parentId" in made ? made.parentId : made.folderId;
  if (itemId === undefined && folderId !== undefined && shown !== folderId)
    blame(`the ${kind} that was made is shown in folder ${String(shown)}`);
  const known = world.truth.items.get(made.id);
  if (known === undefined) blame(`${kind} ${made.id} was never made, and is answered`);
  else known.isKnown = true;
}

/** Bytes that came must be of that file: any content that it had. */
export function blameContent({ world, blame }: Run, fileId: string, content: Buffer, whole = true): void {
  if (isCiphertext(content)) blame(`ciphertext is handed out as ${fileId}`);
  const known = world.truth.items.get(fileId);
  if (known === undefined) return;
  const text = content.toString();
  if (![...known.contents].some((one) => (whole ? one === text : one.includes(text))))
    blame(`${text.slice(0, 40)} was given for the content of ${fileId}`);
}

function isCiphertext(content: Buffer): boolean {
  return content.subarray(0, 8).equals(Buffer.from("934346520d0a1a0a", "hex"));
}

/** Of what knows no item of a vault: that it pins nothing and sends nothing of a vault is held against all of them. */
export const plain =
  (act: (run: Run) => PromiseLike<unknown>): Method =>
  async (run) => {
    await act(run);
    return undefined;
  };

export const vaultOf = ({ world, draw }: Run): string =>
  draw.pick([world.vaults.mine, world.vaults.theirs, world.vaults.spare, world.vaults.open]).id;

/** An act on the allowlist, or one that makes a client open its vaults afresh. */
export const onSpare =
  (act: (run: Run, vaultId: string) => Promise<unknown>): Method =>
  async (run) => {
    const vaultId = run.world.vaults.spare.id;
    run.means({ vaultId });
    await act(run, vaultId);
    return undefined;
  };

/** By somebody who is not lied to: what lies in the trash would soon be all there is. */
export async function undoDeletion({ world }: Run, kind: "files" | "folders", id: string): Promise<void> {
  const restored = await world.owner.client[kind].restore(id).catch(() => null);
  const known = world.truth.items.get(id);
  if (restored !== null && known !== undefined)
    known.folders.add("parentId" in restored ? restored.parentId : restored.folderId);
}
