/**
 * What an upload into a shared vault keeps over a crash (file-format §5): no secret, and enough to make the same bytes
 * again or none.
 */
import {
  comparePlaces,
  CryptoError,
  encodeSavedPart,
  encodeSavedPlan,
  parseEnvelope,
  parseSavedPart,
  parseSavedPlan,
  parseVersionStatement,
  placeOf,
  reopenFilePlan,
  unwrapDataKey,
  type EntryStatement,
  type FilePlan,
  type PartRecord,
  type VaultView,
  type VersionStatement,
} from "@coffer/crypto";
import type { SharedFile } from "@coffer/contract";
import { fromBase64 } from "../../transfer/digest.ts";
import { ownStatement } from "../names/entries.ts";
import type { OpenVault } from "../open-vault.ts";
import { PartRecords } from "./encrypted-parts.ts";
import type { UploadJournal } from "../../transfer/journals.ts";

/** A version that is to be sent: the inputs of its bytes, and its signed statements. */
export interface SignedVersion {
  readonly plan: FilePlan;
  readonly shared: SharedFile;
  readonly statement: VersionStatement;
  readonly entry: EntryStatement;
  /** Chunks of one part. */
  readonly partChunks: number;
  /** The members' view of it. */
  readonly name: string;
  readonly contentType: string;
}

export async function saveVersion(journal: UploadJournal, version: SignedVersion): Promise<void> {
  const { plan, shared, partChunks, name, contentType } = version;
  await journal.save({ plan: encodeSavedPlan(plan), shared, partChunks, name, contentType });
}

/**
 * The version that an earlier process began, with its data key unwrapped again, and the records of its parts. null:
 * there is none, its place is over, or its record is not whole. Then a new version begins.
 */
export async function loadVersion(
  vault: OpenVault,
  journal: UploadJournal,
  view: VaultView,
): Promise<{ readonly version: SignedVersion; readonly records: PartRecords } | null> {
  const kept = journal.kept === null ? null : parseKept(journal.kept.plan);
  if (kept === null || journal.kept === null) return null;
  const parts = journal.kept.parts.map(parseSavedPart);
  if (parts.some((part) => part === null)) return null;
  try {
    const statement = parseVersionStatement(fromBase64(kept.shared.version) ?? new Uint8Array(0));
    if (statement.generation !== view.generation || comparePlaces(statement, placeOf(view)) < 0) return null;
    const entry = ownStatement(kept.shared);
    const plan = await reopenPlan(vault, kept.plan);
    const records = partRecords(
      journal,
      parts.filter((part) => part !== null),
    );
    return { version: { ...kept, plan, statement, entry }, records };
  } catch (error) {
    if (error instanceof CryptoError) return null;
    throw error;
  }
}

async function reopenPlan(vault: OpenVault, saved: NonNullable<ReturnType<typeof parseSavedPlan>>): Promise<FilePlan> {
  const { record, wrapped } = parseEnvelope(saved.envelope);
  const place = { commitment: saved.commitment, headerPrefix: saved.header.subarray(0, 44) };
  const dataKey = await unwrapDataKey(vault.platform, record, await vault.findKey(record), wrapped, place);
  return reopenFilePlan(vault.platform, saved, dataKey);
}

function parseKept(value: unknown) {
  if (typeof value !== "object" || value === null) return null;
  const fields = value as Readonly<Record<string, unknown>>;
  const { partChunks, name, contentType } = fields;
  const plan = parseSavedPlan(fields["plan"]);
  const shared = parseShared(fields["shared"]);
  if (plan === null || shared === null || typeof name !== "string" || typeof contentType !== "string") return null;
  return typeof partChunks === "number" && Number.isSafeInteger(partChunks) && partChunks > 0
    ? { plan, shared, partChunks, name, contentType }
    : null;
}

function parseShared(value: unknown): SharedFile | null {
  if (typeof value !== "object" || value === null) return null;
  const { version, entry, metadata, nameIndex } = value as Readonly<Record<string, unknown>>;
  return typeof version === "string" &&
    typeof entry === "string" &&
    typeof metadata === "string" &&
    typeof nameIndex === "string"
    ? { version, entry, metadata, nameIndex }
    : null;
}

/** The records of a version's parts, each durable before a byte of its part is sent (file-format §5.3). */
export function partRecords(journal: UploadJournal, parts: readonly PartRecord[] = []): PartRecords {
  return new PartRecords(parts, (record) => journal.savePart(encodeSavedPart(record)));
}
