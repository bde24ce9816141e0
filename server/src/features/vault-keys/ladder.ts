/**
 * The ladder of a vault's keys as the service keeps it (encryption design §7). Nobody signs a step and the service
 * opens none. It accepts steps between existing records, and one for each place, so there are never more than records.
 * A bad one costs its reader one identity.
 */
import type { Deps } from "../../deps.ts";
import type { Principal } from "../../handler.ts";
import type { Queries } from "../../ports/database.ts";
import type { LadderStepRow } from "../../ports/tables.ts";
import { type AccountAct, actAs } from "../account/act.ts";
import { PUBLISHING_AGE, readVaultFor, requireShared, requireWriter, type SeenVault } from "../reach/access.ts";
import { comparePlaces, type Place } from "../reach/places.ts";
import { invalid, type LadderStep, parseKeyRecord, parseLadderStep } from "../shared-vaults/statements.ts";
import { putStep } from "./ladder-store.ts";
import { findKey } from "./store.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "chain">;

/** A step in base64, and the ids of the records that it joins. */
export interface WantedStep {
  readonly step: string;
  readonly from: string;
  readonly to: string;
}

/**
 * Puts each step in the place of the one that led down from the same place.
 * @throws ServiceError what `requireWriter` refuses with, `statement_invalid` for a step that joins other keys than it names.
 */
export async function putSteps(
  deps: Needs,
  principal: Principal,
  vault: SeenVault,
  wanted: readonly WantedStep[],
): Promise<void> {
  const steps = wanted.map((each) => ({ ...each, parsed: parseLadderStep(each.step) }));
  const places = steps.map(({ parsed }): Place => parsed.from);
  const place = places.reduce((one, other) => (comparePlaces(one, other) < 0 ? other : one), {
    generation: 0,
    after: 0,
  });
  await requireWriter(deps, principal, vault, { place, maxAge: PUBLISHING_AGE, orEarlier: true });
  await actAs(deps, principal, async (act: AccountAct) => {
    const seen = await readVaultFor(act, principal, vault.id);
    act.requireAccount(seen.account_id);
    requireShared(seen);
    for (const { parsed, step, from, to } of steps) {
      if (parsed.vault !== seen.chain_object_id) throw invalid("step: it is for another vault");
      await requireEnd(act, seen.id, { keyId: from, place: parsed.from, check: null });
      await requireEnd(act, seen.id, { keyId: to, place: parsed.to, check: parsed.check });
      await act.run(putStep(act, { vault_id: seen.id, place: parsed.from.name, step }));
    }
  });
}

interface End {
  readonly keyId: string;
  readonly place: LadderStep["from"];
  /** null: any key of the place. */
  readonly check: string | null;
}

/** Throws `statement_invalid` unless the vault has that record, of that place and key. */
async function requireEnd(queries: Queries, vaultId: string, { keyId, place, check }: End): Promise<void> {
  const row = await findKey(queries, { vaultId, keyId });
  if (row === null) throw invalid("step: the vault has no such key");
  const record = parseKeyRecord(row.record);
  if (record.generation !== place.generation || record.after !== place.after)
    throw invalid("step: the vault key is of another place");
  if (check !== null && record.check !== check) throw invalid("step: it leads to another key than it names");
}

/** The row with an id that a cursor can hold: its place, which is the order of the list. */
export function stepPosition(row: LadderStepRow): LadderStepRow & { readonly id: string; readonly created_at: number } {
  return { ...row, id: row.place, created_at: 0 };
}
