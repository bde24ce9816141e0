/**
 * The versions of a file that the service still has, held to each other: each statement names the one before it by its
 * digest. So what a true version is followed by vouches for it, also below the vault's floor (decision 0059).
 */
import type { File, FileVersion } from "@coffer/contract";
import {
  comparePlaces,
  CryptoError,
  parseEntryStatement,
  parseVersionStatement,
  seenVersion,
  statementHash,
  verifyVersionStatement,
  type VersionStatement,
} from "@coffer/crypto";
import { fromBase64, toHex } from "../../transfer/digest.ts";
import { viewNaming } from "../names/signer-view.ts";
import type { OpenVault } from "../open-vault.ts";
import { vaultError } from "../vault-error.ts";

/** The vault for reading what is not current any more: nothing is too old there, and nothing that is read counts as seen. */
export function pastOf(vault: OpenVault): OpenVault {
  return {
    ...vault,
    view: async (options) => ({ ...(await vault.view(options)), floor: 0n }),
    seen: {
      version: () => null,
      entry: () => null,
      recordVersion: () => undefined,
      recordEntry: () => undefined,
      flush: () => Promise.resolve(),
      forget: (id) => vault.seen.forget(id),
    },
  };
}

/** Takes the versions of one file in the order of the service's list, the newest first. */
export class VersionChain {
  readonly #vault: OpenVault;
  readonly #fileId: string;
  /** The last true one; null: none came yet. */
  #newer: VersionStatement | null = null;
  /** Nothing is missing between the current version and the last true one. */
  #isWhole = true;

  constructor(vault: OpenVault, fileId: string) {
    this.#vault = vault;
    this.#fileId = fileId;
  }

  /**
   * The first is the current version: it must not be older than what this machine has seen. A later one must be older
   * than those before it.
   * @throws CryptoError `damaged`; `rolled_back`; VaultError `not_encrypted`.
   */
  async append({ versionId, shared }: Pick<FileVersion, "versionId" | "shared">): Promise<VersionStatement> {
    const bytes = fromBase64(shared?.version ?? "");
    if (shared === null || bytes === null)
      throw vaultError("not_encrypted", `The service shows a version of ${this.#fileId} without its statement`);
    const newer = this.#newer;
    const { objectId, seen } = this.#vault;
    const source = newer === null ? this.#vault : pastOf(this.#vault);
    const view = await viewNaming((options) => source.view(options), [parseVersionStatement(bytes)]);
    const known = seen.version(this.#fileId);
    const question = { vault: objectId, view, seen: newer === null ? known : null };
    const statement = await verifyVersionStatement(question, bytes);
    if (statement.fileId !== this.#fileId || statement.versionId !== versionId)
      throw new CryptoError("damaged", "ids", "the version statement is of another file or version");
    if (newer === null) {
      seen.recordVersion(this.#fileId, seenVersion(statement));
      await seen.flush();
    } else this.#isWhole = this.#follows(newer, statement) && this.#isWhole;
    const isVouchedFor = newer === null || this.#isWhole;
    if (!isVouchedFor && statement.generation < (await this.#vault.view()).floor)
      throw new CryptoError("rolled_back", "statement", "no newer version vouches for one from before a rotation");
    this.#newer = statement;
    return statement;
  }

  /** False: versions between the two are missing. */
  #follows(newer: VersionStatement, older: VersionStatement): boolean {
    const refuse = (message: string): never => {
      throw new CryptoError("damaged", "statement", message);
    };
    if (older.sequence >= newer.sequence || comparePlaces(older, newer) > 0)
      refuse("the version is not older than the one that the service lists before it");
    if (older.sequence + 1n < newer.sequence) return false;
    if (toHex(newer.previous) !== toHex(statementHash(older.bytes)))
      refuse("the version is not the one that the next one replaced");
    return true;
  }
}

/** The file as it was with that version, for the code that opens files. The folder is the signed one, which may be gone. */
export function fileAt(file: File, { versionId, size, sha256, shared }: FileVersion): File {
  const bytes = fromBase64(shared?.entry ?? "");
  const folderId = bytes === null ? null : parseEntryStatement(bytes).folderId;
  return { ...file, versionId, size, sha256, shared, folderId };
}
