/** A file as the service shows it beside its bytes. */
import { filesGroup, type File } from "@coffer/contract";
import * as z from "zod/mini";
import { fromBase64 } from "../../transfer/digest.ts";

/** What a reader uses of it. All but the digest is compared with what members have signed. */
export type ShownFile = Pick<
  File,
  "id" | "versionId" | "vaultId" | "folderId" | "size" | "sha256" | "shared" | "trashedAt"
>;

const DECODER = new TextDecoder();

/** Null for anything but that file: it is then requested by itself. */
export function parseFileHeader(shown: string | null, fileId: string): ShownFile | null {
  const bytes = fromBase64(shown ?? "");
  if (shown === null || bytes === null) return null;
  try {
    const file: unknown = JSON.parse(DECODER.decode(bytes));
    const parsed = z.safeParse(filesGroup.get.output, { file });
    return parsed.success && parsed.data.file.id === fileId ? parsed.data.file : null;
  } catch {
    return null;
  }
}
