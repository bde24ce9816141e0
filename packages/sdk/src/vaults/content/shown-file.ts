/** A file as the service shows it beside its bytes. */
import type { SharedFile } from "@coffer/contract";
import { fromBase64 } from "../../digest.ts";
import type { File } from "../../file.ts";

/** What a reader uses of it. All but the digest is compared with what members have signed. */
export type ShownFile = Pick<
  File,
  "id" | "versionId" | "vaultId" | "folderId" | "size" | "sha256" | "shared" | "trashedAt"
>;

const DECODER = new TextDecoder();

/** Null for anything but that file: it is then requested by itself. */
export function parseShown(shown: string | null, fileId: string): ShownFile | null {
  const bytes = fromBase64(shown ?? "");
  if (shown === null || bytes === null) return null;
  try {
    const file: unknown = JSON.parse(DECODER.decode(bytes));
    return isShown(file) && file.id === fileId ? file : null;
  } catch {
    return null;
  }
}

/**
 * Whether it has what a reader uses, in the contract's form. The contract's own schema also checks what nobody reads here, and that
 * took a fourteenth of the time of a small file.
 */
function isShown(value: unknown): value is ShownFile {
  const file = Object(value) as { readonly [Key in keyof ShownFile]?: unknown };
  const shared = Object(file.shared) as { readonly [Key in keyof SharedFile]?: unknown };
  return (
    [file.id, file.versionId, file.vaultId].every(isUuid) &&
    (file.folderId === null || isUuid(file.folderId)) &&
    (file.trashedAt === null || typeof file.trashedAt === "string") &&
    typeof file.sha256 === "string" &&
    /^[0-9a-f]{64}$/.test(file.sha256) &&
    Number.isSafeInteger(file.size) &&
    (file.shared === null || [shared.version, shared.entry, shared.metadata].every((text) => typeof text === "string"))
  );
}

function isUuid(value: unknown): boolean {
  return (
    typeof value === "string" && /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(value)
  );
}
