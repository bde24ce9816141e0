/**
 * The ladder of a vault's keys as the service keeps it (encryption design §7, §9.1). Steps come with the record of the
 * key that they begin at, and are stored with it or not at all. Nobody signs a step and the service opens none: a bad
 * one costs its reader one identity.
 */
import { hash } from "node:crypto";
import type { Queries } from "../../ports/database.ts";
import { invalid, type KeyRecord, type LadderStep, parseKeyRecord } from "../shared-vaults/statements.ts";
import { insertStep } from "./ladder-store.ts";
import { findKey } from "./store.ts";

/** A step in base64, read, and the id of a record of the key that it holds. */
export interface WantedStep {
  readonly step: string;
  readonly parsed: LadderStep;
  readonly to: string;
}

/** Throws `statement_invalid` unless each step leads from the record's place to a key that the vault has. */
export async function requireSteps(
  queries: Queries,
  vaultId: string,
  record: KeyRecord,
  steps: readonly WantedStep[],
): Promise<void> {
  for (const { parsed, to } of steps) {
    if (parsed.vault !== record.vault) throw invalid("step: it is for another vault");
    if (!isAt(parsed.from, record)) throw invalid("step: it begins at another place than the record's");
    const row = await findKey(queries, { vaultId, keyId: to });
    if (row === null) throw invalid("step: the vault has no such key");
    const target = parseKeyRecord(row.record);
    if (!isAt(parsed.to, target)) throw invalid("step: the vault key is of another place");
    if (parsed.check !== target.check) throw invalid("step: it leads to another key than it names");
  }
}

/** The same step twice is one. */
export async function insertSteps(
  queries: Queries,
  { vaultId, createdAt }: { readonly vaultId: string; readonly createdAt: number },
  steps: readonly WantedStep[],
): Promise<void> {
  for (const step of new Set(steps.map((each) => each.step))) {
    const id = hash("sha256", step, "hex").slice(0, 32);
    await queries.run(insertStep(queries, { vault_id: vaultId, created_at: createdAt, id, step }));
  }
}

function isAt(place: LadderStep["from"], record: KeyRecord): boolean {
  return record.generation === place.generation && record.after === place.after;
}
