/** How much room a vault has left for closed entries, which verify what their members signed (encryption design §8). */
import { VAULT_OBJECT_LIMITS } from "@coffer/contract";
import type { ActWarning } from "./execution.ts";
import type { VaultObject } from "./vault-object.ts";

/** A warning comes from 1,500 entries on, of 1,800. */
const NEARLY_FULL = 300;

/** As in the Move module: how many of the oldest entries it checks for one below the floor. */
const LOOK_AHEAD = 64;

/** Remarks for the caller of an act on a vault; empty if there are none. */
export function warningsAbout(vault: VaultObject): readonly ActWarning[] {
  const room = countRoom(vault);
  if (room > NEARLY_FULL) return [];
  const message =
    `The vault's list of former members has room for ${String(room)} more entries. After that the oldest one gives way, and clients refuse ` +
    "what its address signed. Let the owner call vaults.rotate before: entries that no longer count then give way first.";
  return [{ code: "former_nearly_full", message }];
}

/** How many more entries the vault can close until one is lost that still counts: `close` of the Move module, played through. */
export function countRoom({ former, floor, oldest }: Pick<VaultObject, "former" | "floor" | "oldest">): number {
  const first = Number(oldest);
  const isVoid = [...former.slice(first), ...former.slice(0, first)].map(({ until }) => until < floor);
  const free = VAULT_OBJECT_LIMITS.former - former.length;
  for (const [at, isOldestVoid] of isVoid.entries()) {
    const next = isVoid.indexOf(true, at);
    if (next === -1 || next >= at + LOOK_AHEAD) return free + at;
    isVoid[next] = isOldestVoid;
  }
  return free + former.length;
}
