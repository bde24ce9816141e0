/** Refuses, before its bytes are read, what an upload would be refused in its act. */
import type { Principal } from "../../../handler.ts";
import type { FileRow } from "../../../ports/tables.ts";
import { ServiceError } from "../../../service-error.ts";
import { refuseTakenName } from "../../items/names.ts";
import { findPlace } from "../../items/placing.ts";
import { readFileFor } from "../../reach/items.ts";
import type { SeenVault } from "../../reach/access.ts";
import { requireReplaceable } from "../version-writer.ts";
import { PLAIN } from "./plain.ts";
import { isMade, SharedVerifier } from "./shared.ts";
import type { ContentChange, NewFile, NewVersion, UploadDeps, Verifier } from "./verifier.ts";

/** A change whose bytes may come. */
export interface VerifiedChange {
  readonly verifier: Verifier;
  readonly vault: SeenVault | null;
  readonly accountId: string;
  readonly vaultId: string;
  readonly folderId: string | null;
  /** The file that gets a version; null: a new file. */
  readonly old: FileRow | null;
  /** What this very upload has made already: then nothing else was asked. */
  readonly made: FileRow | null;
  /** Bytes that the change gives back. */
  readonly freed: number;
  /** Settles when the signatures have been looked at: an act that begins later need not do it. */
  readonly ahead: Promise<void>;
}

interface VerifyOptions {
  /** Most of the bytes have come with their headers, so a refusal before they are read would save nothing. */
  readonly isSmall?: boolean;
  /** A commit will say what the version follows, and where it lies: it alone looks at that. */
  readonly isHeld?: boolean;
}

export function verify(
  deps: UploadDeps,
  principal: Principal,
  change: ContentChange,
  { isSmall = false, isHeld = false }: VerifyOptions = {},
): Promise<VerifiedChange> {
  return change.kind === "file"
    ? verifyFile(deps, principal, change, isSmall)
    : verifyVersion(deps, principal, change, isHeld);
}

/** Throws what {@link findPlace}, {@link verifierFor} and the verifier throw, `name_exists` and `precondition_failed`. */
async function verifyFile(
  deps: UploadDeps,
  principal: Principal,
  file: NewFile,
  isSmall: boolean,
): Promise<VerifiedChange> {
  const { database } = deps;
  const { accountId, vaultId, folderId, vault } = await findPlace(database, principal, file);
  const verifier = verifierFor(vault, file);
  const made = await verifier.findMadeFile(database, principal);
  const verified = { verifier, vault, accountId, vaultId, folderId, old: null, made, freed: 0 };
  if (made !== null) return { ...verified, ahead: Promise.resolve() };
  const name = verifier.nameColumn(file.name);
  const isLeftToAct = isSmall && vault !== null;
  const { ahead } = await verifier.refuseEarly(deps, principal, isLeftToAct ? null : { folderId, old: null });
  const { ifNoneMatch } = file;
  if (name !== null && !isLeftToAct)
    await refuseTakenName(database, "file", { vaultId, folderId }, { name, ifNoneMatch });
  return { ...verified, ahead };
}

/** Throws `owner_only`, `not_found`, and what {@link requireReplaceable}, {@link verifierFor} and the verifier throw. */
async function verifyVersion(
  deps: UploadDeps,
  principal: Principal,
  version: NewVersion,
  isHeld: boolean,
): Promise<VerifiedChange> {
  requireMayKeepNothing(principal, version);
  const seen = await readFileFor(deps.database, principal, version.fileId);
  const { row: old, vault } = seen;
  const { account_id: accountId, vault_id: vaultId, folder_id: folderId } = old;
  const isThere = version.signed !== null && isMade(old, version.signed);
  if (!isThere) requireReplaceable(seen, version.ifMatch);
  const verifier = verifierFor(vault, version);
  const freed = version.keep ? 0 : old.size;
  const verified = { verifier, vault, accountId, vaultId, folderId, old, made: isThere ? old : null, freed };
  if (isThere) return { ...verified, ahead: Promise.resolve() };
  return { ...verified, ...(await verifier.refuseEarly(deps, principal, isHeld ? null : { folderId, old })) };
}

/**
 * The verifier of the vault's kind, which the caller has from rows of the same moment.
 * @throws ServiceError `validation_failed` for statements that come to a public vault, and for what a shared one does not give up.
 * @throws ServiceError `not_encrypted` for content that comes to a shared vault without statements.
 */
export function verifierFor(vault: SeenVault | null, change: ContentChange): Verifier {
  const { signed } = change;
  if (vault === null) {
    if (signed !== null) throw new ServiceError("validation_failed", "A public vault takes no signed statements");
    return PLAIN;
  }
  if (change.kind === "version" && !change.keep)
    throw new ServiceError("validation_failed", "keep: a shared vault always keeps what is replaced");
  if (signed === null)
    throw new ServiceError("not_encrypted", "A shared vault takes encrypted files with their signed statements");
  return new SharedVerifier(vault, signed);
}

/** Throws `owner_only`: what is given up at once cannot be restored. */
function requireMayKeepNothing(principal: Principal, { keep }: NewVersion): void {
  if (!keep && principal.accessLevel !== "owner")
    throw new ServiceError("owner_only", "Only the account owner may replace content without keeping it");
}
