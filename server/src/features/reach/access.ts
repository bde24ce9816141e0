/**
 * The rights to see, use and change a vault (decisions §5, "isolation"). The service's rows decide who sees a shared
 * vault. The vault object on the chain alone decides who is a member of it.
 */
import type { Deps } from "../../deps.ts";
import type { Principal } from "../../handler.ts";
import type { ChainListedMember, ChainMember, ChainVault } from "../../ports/chain.ts";
import type { Queries } from "../../ports/database.ts";
import { ServiceError } from "../../service-error.ts";
import { notFound, reaches } from "../acting.ts";
import { toTimestamp } from "../timestamps.ts";
import { findVault, type OwnedVault } from "./store.ts";
import { readChainVault } from "./chain-vaults.ts";
import { FRESHNESS } from "./freshness.ts";
import { comparePlaces, isReached, type Place, placeOf } from "./places.ts";
import { findAccountAddress, findVaultOfMember } from "./store.ts";

/**
 * `owner`: the vault's account, at its owner's access level. `agent`: a key of that account with another chain
 * address. `member`: the vault is another account's and records the caller's chain address, which gives an agent's
 * rights.
 */
export type Standing = "owner" | "agent" | "member";

/** A vault that the caller may see. Its rows and changes are `account_id`'s, for every actor. */
export interface SeenVault extends OwnedVault {
  readonly standing: Standing;
}

/** How old the allowlist is that says who may publish vault keys, in milliseconds (encryption design §2: one read, at most 5 s old). */
export const PUBLISHING_AGE = 5_000;

/** What asking the chain about a vault needs. */
export type ChainDeps = Pick<Deps, "database" | "chain" | "clock">;

/**
 * The vault, public or shared and live, if the caller may see it. The caller sees the account's own within the key's
 * vault limit, and shared ones of other accounts that record its chain address. Everybody else gets `not_found`, which
 * names `kind`.
 */
export async function readVaultFor(
  queries: Queries,
  principal: Principal,
  vaultId: string,
  kind = "Vault",
): Promise<SeenVault> {
  const vault = await readVaultOrTrashed(queries, principal, vaultId, kind);
  if (vault.trashed_at === null) return vault;
  throw new ServiceError("not_found", `${kind} not found: the vault is in the trash, restore it first`);
}

/** The same, also while it is in the trash: then for its own account alone. */
export async function readVaultOrTrashed(
  queries: Queries,
  principal: Principal,
  vaultId: string,
  kind = "Vault",
): Promise<SeenVault> {
  if (!reaches(principal, vaultId)) throw notFound(kind);
  const own = await findVault(queries, { id: vaultId, accountId: principal.accountId });
  if (own !== null) return { ...own, standing: principal.accessLevel };
  const chainAddress = await findActingAddress(queries, principal);
  const other = chainAddress === null ? null : await findVaultOfMember(queries, { id: vaultId, chainAddress });
  if (other === null || other.trashed_at !== null) throw notFound(kind);
  return { ...other, standing: "member" };
}

/** Throws `owner_only` for callers that see the vault without being its account's owner. */
export function requireOwner(vault: SeenVault): void {
  if (vault.standing !== "owner") throw new ServiceError("owner_only");
}

/** Throws `public_vault`; the narrowed type says what a shared vault's row holds. */
export function requireShared<Row extends SeenVault>(vault: Row): asserts vault is Row & { chain_object_id: string } {
  if (vault.type !== "shared" || vault.chain_object_id === null) throw new ServiceError("public_vault");
}

/**
 * Whether the caller may use the content of the vault and change its unsigned state (trash, restore). A public vault,
 * and the owner of the vault's account, need no check. The vault object must name everybody else, as fresh as
 * {@link FRESHNESS} wants it. Never inside a transaction: it waits for the chain.
 * @throws ServiceError `not_a_member`, `membership_ended`, `clock_skew`, or `chain_unavailable`.
 */
export async function requireMember(deps: ChainDeps, principal: Principal, vault: SeenVault): Promise<void> {
  if (vault.type !== "shared" || vault.standing === "owner") return;
  const address = await findActingAddress(deps.database, principal);
  const remembered = await readChainVault(deps, vault, { maxAge: FRESHNESS.authorising });
  if (isLive(deps, remembered, address)) return;
  requireLive(deps, await readChainVault(deps, vault, { maxAge: FRESHNESS.refusing }), address);
}

/**
 * Whether the caller may see the list of the vault: ids, sizes, dates, and names where they are plain. The account's
 * own keys may, a member on the chain or not (decisions §0). A member of another account may for as long as the vault
 * object names it, as for content. Never inside a transaction: it waits for the chain.
 * @throws ServiceError as {@link requireMember}.
 */
export async function requireSight(deps: ChainDeps, principal: Principal, vault: SeenVault | null): Promise<void> {
  if (vault?.standing === "member") await requireMember(deps, principal, vault);
}

/** The signer for a shared vault, and the read of the chain that allows it. */
export interface Writer {
  readonly chain: ChainVault;
  /** The caller's live entry, the owner's or a member's. Its signing key has 32 bytes. */
  readonly member: ChainMember;
}

interface WantedWriter {
  readonly place: Place;
  /** In milliseconds. */
  readonly maxAge?: number;
  /** An earlier place than the vault's counts too; the caller checks its signer. */
  readonly orEarlier?: boolean;
}

/**
 * The caller's signing identity, for the statements of a change. `place` is the place in the statements: a read from
 * memory that does not fit is repeated. Never inside a transaction: it waits for the chain.
 * @throws ServiceError `not_a_member`, `membership_ended`, `statement_invalid` for a member without a signing key,
 * `generation_moved` for an earlier place.
 * @throws ServiceError `chain_unavailable`, also for a place that the service's node has not seen.
 */
export async function requireWriter(
  deps: ChainDeps,
  principal: Principal,
  vault: SeenVault,
  { place, maxAge = FRESHNESS.authorising, orEarlier = false }: WantedWriter,
): Promise<Writer> {
  const address = await findActingAddress(deps.database, principal);
  const remembered = await readChainVault(deps, vault, { maxAge });
  const again = rereadAge(deps, remembered, address, place);
  const chain = again === null ? remembered : await readChainVault(deps, vault, { maxAge: again });
  const member = requireLive(deps, chain, address);
  if (comparePlaces(place, placeOf(chain)) < 0 && !orEarlier) throw new ServiceError("generation_moved");
  if (!isReached(chain, place)) {
    throw new ServiceError("chain_unavailable", "The service's chain node has not seen that generation yet");
  }
  if (member.signingKey.length !== 32) {
    throw new ServiceError("statement_invalid", "The chain address has no signing key in the vault: set one first");
  }
  return { chain, member };
}

/** How old the read may be that decides in the place of a remembered one, in milliseconds; null: what is remembered decides. */
function rereadAge(
  deps: Pick<Deps, "clock">,
  remembered: ChainVault,
  address: string | null,
  place: Place,
): number | null {
  if (!isLive(deps, remembered, address)) return FRESHNESS.refusing;
  // Places only rise: what was signed for an earlier one stays refused.
  if (comparePlaces(place, placeOf(remembered)) < 0) return null;
  const signs = isReached(remembered, place) && requireLive(deps, remembered, address).signingKey.length === 32;
  return signs ? null : 0;
}

/** The chain address a caller acts with: its key's, else at the owner's level the account's linked one, else none. */
export async function findActingAddress(queries: Queries, principal: Principal): Promise<string | null> {
  if (principal.chainAddress !== null) return principal.chainAddress;
  return principal.accessLevel === "owner" ? findAccountAddress(queries, principal.accountId) : null;
}

/** The owner's or a member's entry of an address, the one that has not ended before others; null: the allowlist does not name it. */
export function findNamed(chain: ChainVault, address: string): ChainListedMember | null {
  if (chain.owner.address === address) return { ...chain.owner, until: null };
  const entries = chain.members.filter((member) => member.address === address);
  return entries.find(({ until }) => until === null) ?? entries.at(-1) ?? null;
}

/** Whether the entry's time is over: by the chain's mark, its clock or this service's, whichever says so first. */
export function hasEnded({ clock }: Pick<Deps, "clock">, chain: ChainVault, entry: ChainListedMember): boolean {
  if (entry.until !== null) return true;
  return entry.endsAt !== null && entry.endsAt <= Math.max(chain.time, clock.now());
}

function isLive(deps: Pick<Deps, "clock">, chain: ChainVault, address: string | null): boolean {
  const entry = address === null ? null : findNamed(chain, address);
  return entry !== null && !hasEnded(deps, chain, entry);
}

/** The live entry of an address. Throws `not_a_member`, and `membership_ended` with the time for one that has ended. */
function requireLive(deps: Pick<Deps, "clock">, chain: ChainVault, address: string | null): ChainMember {
  const entry = address === null ? null : findNamed(chain, address);
  if (entry !== null && !hasEnded(deps, chain, entry)) return entry;
  refuseEnded(deps, chain, address);
  throw new ServiceError("not_a_member");
}

/** Throws `membership_ended` for an address whose last entry, swept off the allowlist or not, came to its end. */
export function refuseEnded(deps: Pick<Deps, "clock">, chain: ChainVault, address: string | null): void {
  if (address === null) return;
  const last = findNamed(chain, address) ?? chain.former.findLast((entry) => entry.address === address) ?? null;
  if (last === null || last.endsAt === null || !hasEnded(deps, chain, { ...last, until: null })) return;
  const message = `The chain address's access to the vault ended at ${toTimestamp(last.endsAt)}`;
  throw new ServiceError("membership_ended", message);
}
