/**
 * Compare-and-set of a place's current record, with the steps that it brings: one of several publishers wins, and the
 * others get its id.
 */
import { HEADERS, type VaultKeyRecord } from "@coffer/contract";
import type { Deps } from "../../deps.ts";
import type { CreationContext, Principal, Recorded } from "../../handler.ts";
import { isTaken, type Queries } from "../../ports/database.ts";
import type { VaultKeyRow } from "../../ports/tables.ts";
import { ServiceError } from "../../service-error.ts";
import { type AccountAct, actAs } from "../account/act.ts";
import { toTimestamp } from "../timestamps.ts";
import { PUBLISHING_AGE, readVaultFor, requireWriter, type SeenVault } from "../reach/access.ts";
import { comparePlaces } from "../reach/places.ts";
import { requireRecord, requireSealedAgain } from "../shared-vaults/statement-rules.ts";
import { invalid, type KeyRecord, parseKeyRecord } from "../shared-vaults/statements.ts";
import { insertSteps, requireSteps, type WantedStep } from "./ladder.ts";
import { countKeys, findCurrentKey, findKey, insertKey, replaceKey } from "./store.ts";

type Needs = Pick<Deps, "database" | "clock" | "random" | "chain">;

/**
 * Records of one place by one creator, replaced ones too. A member that publishes without end fills no disk, and keeps
 * nobody else from sealing a key again.
 */
const MAX_RECORDS = 100;

export interface WantedKey {
  readonly record: KeyRecord;
  /** The record in base64. */
  readonly text: string;
  /** The current record that it takes the place of; null: there is none yet. */
  readonly replaces: string | null;
  /** From the record's key down to earlier ones. */
  readonly steps: readonly WantedStep[];
}

/**
 * A repeat of the present record gets it again. A record of the same key as the one it names, sealed for other key
 * servers, may be of any place so far. Nobody new opens it, and nothing new is written with it.
 * @throws ServiceError the errors of `requireWriter` and `requireRecord`, `key_exists` with the id of the present
 * record.
 * @throws ServiceError `statement_invalid` when there is nothing to replace, or for a step that joins other keys than
 * it names; `limit_reached`.
 */
export async function publishKey(
  deps: Needs,
  context: CreationContext<Principal>,
  vault: SeenVault,
  wanted: WantedKey,
): Promise<Recorded<{ key: VaultKeyRecord }>> {
  const { principal } = context;
  const { generation, after } = wanted.record;
  const isAgain = await isSealedAgain(deps.database, vault.id, wanted);
  // The key was not made in this call, and has the steps of its first record.
  if (isAgain && wanted.steps.length > 0) throw invalid("steps: a key that is sealed again brings none");
  const writer = await requireWriter(deps, principal, vault, {
    place: wanted.record,
    maxAge: PUBLISHING_AGE,
    orEarlier: isAgain,
  });
  (isAgain ? requireSealedAgain : requireRecord)(writer, wanted.record);
  try {
    return await actAs(deps, principal, async (act) => {
      const seen = await readVaultFor(act, principal, vault.id);
      act.requireAccount(seen.account_id);
      if ((seen.chain_generation ?? 0) > generation && !isAgain) throw new ServiceError("generation_moved");
      const row = await store(deps, act, principal, { vault: seen, wanted, isAgain });
      return context.record(act, { key: toVaultKey(row) });
    });
  } catch (error) {
    // Where writers run side by side, the unique index has the last word.
    if (!isTaken(error)) throw error;
    const current = await findCurrentKey(deps.database, { vaultId: vault.id, generation, after });
    throw current === null ? error : keyExists(current.key_id);
  }
}

/** Whether the record that it names is of the same key and maker. Rows are never changed in that, so it holds in the transaction too. */
async function isSealedAgain(queries: Queries, vaultId: string, { record, replaces }: WantedKey): Promise<boolean> {
  const named = replaces === null ? null : await findKey(queries, { vaultId, keyId: replaces });
  return named !== null && comparePlaces(named, record) === 0 && isSameKey(named, record);
}

function isSameKey({ record: text }: VaultKeyRow, { check, maker, made }: KeyRecord): boolean {
  const known = parseKeyRecord(text);
  return known.check === check && known.maker === maker && known.made === made;
}

export function toVaultKey(row: VaultKeyRow): VaultKeyRecord {
  return {
    keyId: row.key_id,
    generation: row.generation,
    after: row.after,
    record: row.record,
    current: row.replaced_at === null,
    createdAt: toTimestamp(row.created_at),
  };
}

interface Publication {
  readonly vault: SeenVault;
  readonly wanted: WantedKey;
  readonly isAgain: boolean;
}

/** As the place's current record; behind it when it seals again a key whose place another key has taken: files still name that. */
async function store(
  deps: Needs,
  act: AccountAct,
  principal: Principal,
  { vault, wanted, isAgain }: Publication,
): Promise<VaultKeyRow> {
  const { record, replaces } = wanted;
  const place = { vaultId: vault.id, generation: record.generation, after: record.after };
  const current = await findCurrentKey(act, place);
  if (current?.key_id === record.keyId) return current;
  const isBehind = isAgain && current !== null && current.key_id !== replaces && !isSameKey(current, record);
  if (current !== null && current.key_id !== replaces && !isBehind) throw keyExists(current.key_id);
  if (current === null && replaces !== null) {
    throw new ServiceError("statement_invalid", "body.replaces: the place has no record yet");
  }
  const known = isBehind ? await findKey(act, { vaultId: vault.id, keyId: record.keyId }) : null;
  if (known !== null) return known;
  if ((await countKeys(act, { ...place, creator: record.creator })) >= MAX_RECORDS) {
    throw new ServiceError("limit_reached", `A place has at most ${MAX_RECORDS} records of one creator`);
  }
  await requireSteps(act, vault.id, record, wanted.steps);
  const now = deps.clock.now();
  if (current !== null && !isBehind) await act.run(replaceKey(act, { ...place, keyId: current.key_id, now }));
  const row: VaultKeyRow = {
    vault_id: vault.id,
    key_id: record.keyId,
    generation: record.generation,
    after: record.after,
    record: wanted.text,
    creator: record.creator,
    created_at: now,
    replaced_at: isBehind ? now : null,
  };
  await insertKey(act, row);
  await insertSteps(act, { vaultId: vault.id, createdAt: now }, wanted.steps);
  await recordPublished(act, principal, row);
  return row;
}

/** For the audit log alone: no event kind fits. */
async function recordPublished(act: AccountAct, principal: Principal, row: VaultKeyRow): Promise<void> {
  await act.record({
    action: "vault.key_published",
    actor: principal,
    target: { kind: "vault_key", id: row.key_id, vaultId: row.vault_id },
  });
}

function keyExists(keyId: string): ServiceError {
  return new ServiceError("key_exists", undefined, { headers: { [HEADERS.keyId]: keyId } });
}
