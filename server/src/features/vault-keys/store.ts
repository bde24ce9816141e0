/** The SQL of vault keys: records that members seal and sign, one current one for each generation. */
import { prepared, type Session } from "../../ports/database.ts";
import type { VaultKeyRow } from "../../ports/tables.ts";

const current = prepared((build, value: { vaultId: string; generation: number }) =>
  build
    .selectFrom("vault_keys")
    .selectAll()
    .where("vault_id", "=", value.vaultId)
    .where("generation", "=", value.generation)
    .where("replaced_at", "is", null),
);

/** The record that new files of the generation use; null: nobody published one yet. */
export function findCurrentKey(
  session: Session,
  value: { vaultId: string; generation: number },
): Promise<VaultKeyRow | null> {
  return session.first(current(session, value));
}
