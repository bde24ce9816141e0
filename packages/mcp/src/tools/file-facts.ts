import type { File } from "@coffer/sdk";
import { findFile, stepFor, TaskFailure, untrusted } from "@coffer/tasks";
import type { Call } from "../call.ts";
import type { Fact } from "../result.ts";
import { COUNT, TEXT } from "../schema.ts";
import { membershipStep, moment, word } from "../fact-values.ts";

/** Facts of {@link fileFacts}. */
export const FILE_OUTPUT = {
  fileId: TEXT,
  name: TEXT,
  bytes: COUNT,
  sha256: TEXT,
  contentType: TEXT,
  vaultId: TEXT,
  folderId: TEXT,
  revision: COUNT,
  tag: TEXT,
  created: TEXT,
  modified: TEXT,
  trashed: TEXT,
};

/** Facts that prove a transfer. */
export const RECEIPT = {
  fileId: TEXT,
  versionId: TEXT,
  tag: TEXT,
  folderId: TEXT,
  bytes: COUNT,
  sha256: TEXT,
  path: TEXT,
  vaultId: TEXT,
  name: TEXT,
};

/** The file's metadata. With a pinned vault, a file of another one is not found, as for a key limited to the vault. */
export async function findOwnFile(call: Call, text: string, vaultId: string | null = null): Promise<File> {
  return await findFile(call, call.pinnedVault ?? vaultId, text);
}

/**
 * Like findOwnFile, but for reading the content. Throws TaskFailure `shared_vault` where this server would get the
 * encrypted bytes only.
 */
export async function findReadableFile(call: Call, text: string, vaultId: string | null = null): Promise<File> {
  const file = await findOwnFile(call, text, vaultId);
  if (file.encrypted && (await call.chainAddress()) === null) throw new TaskFailure("shared_vault");
  return file;
}

/**
 * In a shared vault the service's digest covers the encrypted bytes. It has another name here, so that nobody compares
 * it with a local file.
 */
export function fileFacts(file: File): Record<string, Fact> {
  const open = whyClosed(file) === null;
  return {
    fileId: file.id,
    name: open ? untrusted(file.name) : null,
    bytes: open ? file.size : null,
    ...(file.encrypted
      ? { encrypted: true, storedBytes: file.storedSize ?? file.size, storedSha256: file.sha256 }
      : { sha256: file.sha256 }),
    contentType: open ? untrusted(file.contentType) : null,
    vaultId: file.vaultId,
    folderId: file.folderId,
    revision: file.revision,
    ...(file.tag === undefined ? {} : { tag: file.tag }),
    created: moment(file.createdAt),
    modified: moment(file.updatedAt),
    trashed: file.trashedAt === null ? null : moment(file.trashedAt),
  };
}

/** Why this server cannot read the name and size of an encrypted file, as a code; null when it can. */
export function whyClosed(file: File): string | null {
  if (file.unreadable !== undefined) return file.unreadable;
  return file.encrypted && file.name === "" ? "shared_vault" : null;
}

/** Why a file is closed to this server, and what to do about it. */
export async function closedStep(call: Call, file: File): Promise<Record<string, Fact>> {
  const cause = whyClosed(file) ?? "";
  const address = cause === "not_a_member" ? await call.chainAddress() : null;
  return { cause: word(cause), nextStep: address === null ? stepFor(cause) : membershipStep(address, file.vaultId) };
}

/**
 * What a client encrypted does not go into a conversation unless the user said so, and neither does an answer that depends on it.
 * @throws TaskFailure `shared_vault`, `reveal_refused`.
 */
export async function refuseReveal(call: Call, file: File): Promise<void> {
  if (!file.encrypted) return;
  if (whyClosed(file) !== null) {
    const { nextStep } = await closedStep(call, file);
    throw new TaskFailure("shared_vault", typeof nextStep === "string" ? { nextStep } : {});
  }
  if (!call.revealsSharedText) throw new TaskFailure("reveal_refused", {});
}
