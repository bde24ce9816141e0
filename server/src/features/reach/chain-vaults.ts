/** Reading vault objects for the handlers, and keeping what the rows say of them up to date. */
import type { Deps } from "../../deps.ts";
import type { ChainVault } from "../../ports/chain.ts";
import { DatabaseFullError, DatabaseUnavailableError } from "../../ports/database.ts";
import type { VaultRow } from "../../ports/tables.ts";
import { ServiceError } from "../../service-error.ts";
import { unreadError } from "../../unread-chain.ts";
import { listEnds, recordChainFacts, recordEnd } from "./store.ts";

type ChainDeps = Pick<Deps, "database" | "chain">;
type VaultOnChain = Pick<VaultRow, "id" | "chain_object_id" | "chain_generation" | "owner_address">;

/**
 * The object behind a shared vault, at most `maxAge` milliseconds old. It is of no generation below the highest that
 * any process of the service has seen. It notes changes in the vault's row, which others get as a hint. Never inside a
 * transaction.
 * @throws ServiceError `clock_skew`; `chain_unavailable`, also when this server has no chain, or its chain has no such
 * object or an older state of it.
 */
export async function readChainVault(
  deps: ChainDeps,
  vault: VaultOnChain,
  options: { readonly maxAge: number },
): Promise<ChainVault> {
  const objectId = vault.chain_object_id;
  const known = vault.chain_generation ?? 0;
  const remembered = objectId === null ? null : await askChain(deps, objectId, options);
  if (objectId === null || remembered === null) {
    throw new ServiceError("chain_unavailable", "The service's chain does not have this vault's object");
  }
  // Another process, or this one before it was started again, has seen more.
  const found = remembered.generation >= known ? remembered : await askChain(deps, objectId, { maxAge: 0 });
  if (found === null || found.generation < known) {
    throw new ServiceError("chain_unavailable", "The service's chain node has fallen behind what it showed before");
  }
  const isNews = found.generation > known || found.owner.address !== vault.owner_address;
  if (isNews) await recordFacts(deps, vault.id, found);
  return found;
}

/**
 * A vault object by its id; null when the chain has none of the service's package.
 * @throws ServiceError `chain_unavailable`, `clock_skew`.
 */
export async function askChain(
  { chain }: Pick<Deps, "chain">,
  objectId: string,
  options: { readonly maxAge: number },
): Promise<ChainVault | null> {
  if (chain === null) throw new ServiceError("chain_unavailable", "This server is not set up to read the chain");
  try {
    return await chain.readVault(objectId, options);
  } catch (cause) {
    throw unreadError(cause);
  }
}

/** A marked member keeps its end; one that was added again has another. */
async function recordEnds(database: Deps["database"], vaultId: string, { members }: ChainVault): Promise<void> {
  const ends = new Map(members.filter(({ until }) => until === null).map(({ address, endsAt }) => [address, endsAt]));
  for (const { chain_address: chainAddress, ends_at: noted } of await listEnds(database, vaultId)) {
    const endsAt = ends.get(chainAddress);
    if (endsAt !== undefined && endsAt !== noted)
      await database.run(recordEnd(database, { vaultId, chainAddress, endsAt }));
  }
}

/** A hint that cannot be written does not make a read fail. */
async function recordFacts({ database }: Pick<Deps, "database">, id: string, found: ChainVault): Promise<void> {
  try {
    await database.run(
      recordChainFacts(database, { id, generation: found.generation, ownerAddress: found.owner.address }),
    );
    await recordEnds(database, id, found);
  } catch (error) {
    if (error instanceof DatabaseFullError || error instanceof DatabaseUnavailableError) return;
    throw error;
  }
}
