import type { File } from "@coffer/sdk";
import type { Call } from "../call.ts";
import { ToolFailure } from "../failure.ts";
import { untrusted } from "../fence.ts";
import type { Fact } from "../result.ts";
import { moment } from "../words.ts";

/** The file's metadata. With a pinned vault, a file of another one is not found, as for a key limited to the vault. */
export async function findOwnFile(call: Call, fileId: string): Promise<File> {
  const client = await call.client();
  const file = await client.files.get(fileId, { signal: call.signal });
  if (call.pinnedVault !== null && file.vaultId !== call.pinnedVault) throw new ToolFailure("not_found");
  return file;
}

/** As findOwnFile, for reading its content. Throws ToolFailure `shared_vault` where this server could get the encrypted bytes only. */
export async function findReadableFile(call: Call, fileId: string): Promise<File> {
  const file = await findOwnFile(call, fileId);
  if (file.shared !== null && (await call.chainAddress()) === null) throw new ToolFailure("shared_vault");
  return file;
}

/** In a shared vault the service's digest is of the encrypted bytes: it stands under another name, so that nobody compares it with a local file. */
export function fileFacts(file: File): Record<string, Fact> {
  return {
    fileId: file.id,
    name: untrusted(file.name),
    bytes: file.size,
    ...(file.shared === null
      ? { sha256: file.sha256 }
      : { encrypted: true, storedBytes: file.storedSize ?? file.size, storedSha256: file.sha256 }),
    contentType: untrusted(file.contentType),
    vaultId: file.vaultId,
    folderId: file.folderId,
    created: moment(file.createdAt),
    modified: moment(file.updatedAt),
    trashed: file.trashedAt === null ? null : moment(file.trashedAt),
  };
}
