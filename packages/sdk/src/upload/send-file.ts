/** Uploads by where they go: encrypted here into a shared vault, as they are into a public one. */
import { clientApi as api } from "@coffer/contract";
import { callOn } from "../call.ts";
import type { Connection } from "../options.ts";
import { openSource, type Source } from "./source.ts";
import type { Target } from "./target.ts";
import { uploadSource, type ReplaceInput, type UploadInput, type UploadOptions, type UploadResult } from "./upload.ts";

export async function uploadFile(
  connection: Connection,
  { body, size, ...input }: UploadInput,
  options: UploadOptions = {},
): Promise<UploadResult> {
  return sendSource(connection, { kind: "file", ...input }, openSource(body, size), options);
}

export async function replaceFile(
  connection: Connection,
  fileId: string,
  { body, size, ...input }: ReplaceInput,
  options: UploadOptions = {},
): Promise<UploadResult> {
  return sendSource(connection, { kind: "version", fileId, ...input }, openSource(body, size), options);
}

/** Closes the source. */
export async function sendSource(
  connection: Connection,
  target: Target,
  source: Source,
  options: UploadOptions,
): Promise<UploadResult> {
  const shared = connection.sharedVaults === null ? null : await findShared(connection, target, source, options);
  if (shared === null) return uploadSource(connection, target, source, options);
  return (await import("../vaults/upload.ts")).uploadShared(connection, shared.vault, shared.target, source, options);
}

/** null: a public vault, as the one that takes files when none is named. */
async function findShared(connection: Connection, target: Target, source: Source, { signal }: UploadOptions) {
  try {
    const { findOpenVault } = await import("../vaults/vault-session.ts");
    if (target.kind === "file") {
      const { vaultId, name } = target;
      const vault =
        vaultId === undefined || name === null ? null : await findOpenVault(connection, vaultId, { signal });
      return vault === null || name === null ? null : { vault, target: { ...target, name } };
    }
    const { file } = await callOn(connection, api.files.get, { params: { fileId: target.fileId } }, { signal });
    const vault = await findOpenVault(connection, file.vaultId, { signal });
    return vault === null ? null : { vault, target: { ...target, file } };
  } catch (error) {
    await source.close();
    throw error;
  }
}
